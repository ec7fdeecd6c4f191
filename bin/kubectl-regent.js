#!/usr/bin/env node
// The plugin of kubectl: "kubectl regent plan" runs "regent kubectl plan".
process.argv.splice(2, 0, 'kubectl')
await import('./regent.js')
