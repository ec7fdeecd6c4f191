// Runs keycloak-config-cli, which applies realm files by the admin API.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const jar = process.env.REGENT_CONFIG_CLI
const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin', 'java') : 'java'

/** Whether keycloak-config-cli can run: `REGENT_CONFIG_CLI` is the path of the jar, and `JAVA_HOME` or `PATH` has Java. */
export const hasConfigCli = jar !== undefined && existsSync(jar) && spawnSync(java, ['-version']).status === 0

/** Part of the titles of tests with keycloak-config-cli. It gives the reason if they are skipped. */
export const withConfigCli = hasConfigCli ? 'with keycloak-config-cli' : 'skipped: no keycloak-config-cli'

/** Applies a file to a server. Returns exit status and output. */
export async function runConfigCli(server: string, file: string, ...args: string[]): Promise<[number | null, string]> {
  const serverOptions = [`--keycloak.url=${server}`, '--keycloak.user=admin', '--keycloak.password=admin']
  const child = spawn(java, ['-jar', jar!, ...serverOptions, `--import.files.locations=${file}`, ...args])
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const status = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return [status, output]
}
