// Drives Keycloak's admin console against Regent: takes its jars by Maven into a temporary folder, and runs the test in a browser. With --reference, the
// requests of the console to a Keycloak server are recorded first, with which those to Regent are compared.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { recordConsole } from '../test/clients/keycloak-console/record-console.ts'
import { startChromium } from '../test/support/chromium.ts'

const USAGE = 'Usage: npm run campaign:keycloak-console -- [--version 26.7.3] [--reference URL]'
const ARTIFACTS = ['keycloak-admin-ui', 'keycloak-themes-vendor', 'keycloak-themes']
const TEST = 'test/clients/keycloak-console.test.ts'
const RECORDING = 'test/clients/keycloak-console/recording.json'

const { values } = parseArgs({
  options: { version: { type: 'string', default: '26.7.3' }, reference: { type: 'string' } },
})
if (!/^26\.\d+\.\d+$/.test(values.version)) throw new Error(USAGE)

const folder = mkdtempSync(join(tmpdir(), 'regent-keycloak-console-'))
try {
  if (values.reference !== undefined) await record(values.reference)
  const jars = join(folder, 'jars')
  mkdirSync(jars)
  for (const artifact of ARTIFACTS) download(`org.keycloak:${artifact}:${values.version}`, jars)
  run('vitest', ['run', TEST], { REGENT_ADMIN_CONSOLE: jars, REGENT_ADMIN_CONSOLE_VERSION: values.version })
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function record(url: string): Promise<void> {
  const browser = await startChromium()
  try {
    const recording = await recordConsole(browser, url.replace(/\/$/, ''))
    writeFileSync(RECORDING, `${JSON.stringify(recording, null, 1)}\n`)
  } finally {
    await browser.close()
  }
}

/** Copies an artifact of Maven Central into a folder. */
function download(artifact: string, to: string): void {
  run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${to}`], {})
}

/** Runs a command. @throws Error if it is not installed or fails */
function run(command: string, args: readonly string[], env: Record<string, string>): void {
  // Maven would look for a project here.
  const cwd = command === 'mvn' ? folder : process.cwd()
  const { status, error } = spawnSync(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' })
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? `status ${status}`}`)
}
