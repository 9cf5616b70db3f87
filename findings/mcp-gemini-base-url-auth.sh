#!/bin/sh
# Gemini CLI 0.61.0 can't be told by its two variables to ask another address than Google's.
# Guess: GEMINI_API_KEY chooses the authentication `gemini-api-key`, for which docs/reference/configuration.md of the package says that
# GOOGLE_GEMINI_BASE_URL overrides the address. Behaviour: with the address, the client chooses an
# authentication `gateway`, which its own check doesn't know, and ends with 41 before it asks anyone. It works once `gemini-api-key` is
# in a settings file.
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
npm install --silent --no-audit --no-fund --prefix . @google/gemini-cli@0.61.0 >/dev/null
cat >model.cjs <<'SCRIPT'
// Answers each request with one word.
const { writeFileSync } = require('node:fs');
const server = require('node:http').createServer((request, response) => {
  const content = { role: 'model', parts: [{ text: 'answered' }] };
  const text = JSON.stringify({ candidates: [{ index: 0, content, finishReason: 'STOP' }] });
  const isStream = request.url.includes('stream');
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  request.resume().on('end', () => response.end(isStream ? `data: ${text}\n\n` : text));
});
server.listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)));
SCRIPT
node model.cjs &
model=$!
until [ -s port ]; do kill -0 "$model"; sleep 0.1; done

ask() {
  code=0
  output=$(env -i HOME="$folder" PATH="$PATH" GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_API_KEY=key \
    GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$(cat port)" node_modules/.bin/gemini -p 'Say a word.' 2>&1 </dev/null) || code=$?
  echo "ends with $code: $(echo "$output" | grep -E 'auth method|answered' | head -n 1)"
}
echo "Gemini CLI $(node_modules/.bin/gemini --version)"
seen=$(ask)
echo "Guess: ends with 0: answered. Seen: $seen"
mkdir -p .gemini
echo '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }' >.gemini/settings.json
told=$(ask)
echo "With the choice in a settings file: $told"
[ "$seen" = 'ends with 41: Invalid auth method selected.' ] && [ "$told" = 'ends with 0: answered' ]
