#!/bin/sh
# GitHub Copilot CLI 1.0.102 ignores the setting trustedFolders that its own help names, and says nothing about it.
# Guess: `copilot help config` lists `trustedFolders` among the settings to change with `copilot config`, and config.json says
# that user settings belong in settings.json: so a folder that is named there is trusted, and its hooks run. Behaviour: `copilot
# config` doesn't know the key, and settings.json is read without it, so that `copilot -p` runs no hook of the folder and still
# ends with 0. Only in config.json, which "is managed automatically", it counts.
# Needs npm and Node 20 or newer. Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
model=
stop() {
  [ -z "$model" ] || kill "$model"
  wait
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @github/copilot@1.0.102 >/dev/null
cat >model.cjs <<'SCRIPT'
// Answers each request with one word.
const { writeFileSync } = require('node:fs');
const common = { id: '1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chunk = (delta, finish_reason) =>
  `data: ${JSON.stringify({ ...common, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const text = `${chunk({ role: 'assistant', content: 'answered' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
const server = require('node:http').createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  request.resume().on('end', () => response.end(text));
});
server.listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)));
SCRIPT
node model.cjs &
model=$!
until [ -s port ]; do kill -0 "$model"; sleep 0.1; done

mkdir -p work/.github/hooks home/.copilot
git init --quiet work
hooks() { echo "\"hooks\": { \"userPromptSubmitted\": [{ \"type\": \"command\", \"bash\": \"echo $1 >>'$folder/ran'\" }] }"; }
echo "{ \"version\": 1, $(hooks folder) }" >work/.github/hooks/mark.json
copilot() {
  (cd work && env -i HOME="$folder/home" PATH="$PATH" COPILOT_OFFLINE=true COPILOT_MODEL=m \
    COPILOT_PROVIDER_BASE_URL="http://127.0.0.1:$(cat ../port)/v1" ../node_modules/.bin/copilot "$@" 2>&1 </dev/null)
}
# Writes a file of the home folder, and says how a turn ends and which hooks it has run.
ask() {
  rm -f ran home/.copilot/*.json
  echo "$2" >"home/.copilot/$1"
  code=0
  output=$(copilot -p 'Say a word.') || code=$?
  echo "ends with $code, $(echo "$output" | head -n 1), hooks: $(cat ran 2>/dev/null | tr '\n' ' ')"
}
echo "Copilot CLI $(copilot --version | head -n 1)"
copilot help config | grep -E 'Change these settings|trustedFolders'
trust="\"trustedFolders\": [\"$folder/work\"]"
told=$(copilot config trustedFolders "$folder/work" | head -n 1) || true
setting=$(ask settings.json "{ $trust, $(hooks settings) }")
managed=$(ask config.json "{ $trust }")
echo "copilot config trustedFolders: $told"
echo "Guess for settings.json: ends with 0, answered, hooks: settings folder. Seen: $setting"
echo "The same trust in config.json: $managed"
copilot help config | grep -q '`trustedFolders`: list of folders' &&
  echo "$told" | grep -q 'Unknown settings key segment "trustedFolders"' &&
  [ "$setting" = 'ends with 0, answered, hooks: settings ' ] && [ "$managed" = 'ends with 0, answered, hooks: folder ' ]
