// keycloak-config-cli, which applies realm files over the admin API, where its jar is named and Java is there.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const jar = process.env.REGENT_CONFIG_CLI
const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin', 'java') : 'java'

/** Whether it is there: `REGENT_CONFIG_CLI` names the jar, and Java is that of `JAVA_HOME` or on the path. */
export const hasConfigCli = jar !== undefined && existsSync(jar) && spawnSync(java, ['-version']).status === 0

/** What tests with it are called, which says so where they are left out. */
export const withConfigCli = hasConfigCli ? 'with keycloak-config-cli' : 'skipped: no keycloak-config-cli'

/** Applies a file to a server. Gives its exit status, and what it said. */
export async function runConfigCli(server: string, file: string, ...args: string[]): Promise<[number | null, string]> {
  const own = [`--keycloak.url=${server}`, '--keycloak.user=admin', '--keycloak.password=admin']
  const child = spawn(java, ['-jar', jar!, ...own, `--import.files.locations=${file}`, ...args])
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const status = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return [status, said]
}
