// How the clients of docs/agents.md are started without a user, with a model on loopback.
export interface AgentClient {
  /** As in docs/agents.md and in *Copy MCP Configuration for…*. */
  readonly label: string;
  readonly package: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** What follows for unattended use, where that isn't a line of the configuration. */
  readonly unattended?: readonly string[];
  /** The options with which it runs a hook that wasn't trusted before, if it needs any. */
  readonly hookOptions?: readonly string[];
  /** What it adds to the schema of each tool, and passes on. */
  readonly adds?: object;
  readonly env?: (model: string) => Readonly<Record<string, string>>;
  /** A file of the home folder that names the model, to which the configuration of the server is added. */
  readonly file?: { readonly name: string; readonly text: (model: string) => string };
}

const PROMPT = 'Call the tools.';

export const AGENT_CLIENTS: readonly AgentClient[] = [
  {
    label: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    command: ['claude', '-p', PROMPT],
    env: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'played',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // The model would have to find the tools first.
      ENABLE_TOOL_SEARCH: 'false',
    }),
  },
  {
    label: 'Codex',
    package: '@openai/codex',
    command: ['codex', 'exec', '--skip-git-repo-check', PROMPT],
    hookOptions: ['--dangerously-bypass-hook-trust'],
    file: {
      name: '.codex/config.toml',
      text: (model) =>
        [
          'model = "played"',
          'model_provider = "played"',
          '[model_providers.played]',
          'name = "Played"',
          `base_url = "${model}/v1"`,
          'wire_api = "responses"',
          '',
        ].join('\n'),
    },
  },
  {
    label: 'Gemini CLI',
    package: '@google/gemini-cli',
    command: ['gemini', '-p', PROMPT],
    adds: { wait_for_previous: true },
    env: (model) => ({
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_API_KEY: 'played',
      // Without a name, it asks another model which one to use, and repeats that for a minute.
      GEMINI_MODEL: 'gemini-2.5-flash',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    file: {
      name: 'work/.gemini/settings.json',
      text: () => JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
    },
  },
  {
    label: 'Copilot CLI',
    package: '@github/copilot',
    command: ['copilot', '-p', PROMPT],
    unattended: ['--allow-tool', 'hosted-postgres'],
    hookOptions: ['--trust-folder'],
    env: (model) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_MODEL: 'played',
      COPILOT_OFFLINE: 'true',
    }),
  },
  {
    label: 'opencode',
    package: 'opencode-ai',
    command: ['opencode', 'run', '--model', 'played/played', PROMPT],
    env: (model) => ({
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        autoupdate: false,
        provider: {
          played: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${model}/v1`, apiKey: 'played' },
            models: { played: { tool_call: true } },
          },
        },
      }),
    }),
  },
  {
    label: 'Qwen Code',
    package: '@qwen-code/qwen-code',
    command: ['qwen', '-p', PROMPT, '--auth-type', 'openai'],
    env: (model) => ({ OPENAI_BASE_URL: `${model}/v1`, OPENAI_API_KEY: 'played', OPENAI_MODEL: 'played' }),
    file: {
      name: 'work/.qwen/settings.json',
      text: () => JSON.stringify({ tools: { toolSearch: { enabled: false } } }),
    },
  },
];
