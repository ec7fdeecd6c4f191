#!/usr/bin/env node
// Starts Regent with a Node that runs it: this one if it is new enough, else the one pinned in node_modules.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const built = join(root, 'dist', 'main.js')
const entry = existsSync(built) ? built : join(root, 'src', 'main.ts')
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 24 || (major === 24 && minor >= 7)) {
  const { enableCompileCache } = await import('node:module')
  enableCompileCache(join(root, 'node_modules', '.cache', 'regent'))
  await import(pathToFileURL(entry).href)
} else {
  const pinned = join(root, 'node_modules', 'node', 'bin', 'node')
  if (!existsSync(pinned)) {
    console.error(`regent needs Node 24.7 or later; this is ${process.version}. Run "npm ci" in ${root} to install it.`)
    process.exit(1)
  }
  const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to the child as well, which takes the second one for the same.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)))
}
