// Runs kcadm.sh, the admin CLI of Keycloak.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const tool = process.env.REGENT_KCADM
const keycloak = process.env.REGENT_KEYCLOAK

/** Whether commands can be compared: `REGENT_KCADM` is the path of kcadm.sh, and `REGENT_KEYCLOAK` the URL of a new Keycloak. */
export const hasKcadm = tool !== undefined && keycloak !== undefined

/** URL of the Keycloak. Its administrator is admin, with the password admin. */
export const keycloakUrl = keycloak ?? ''

/** Part of the titles of tests with kcadm.sh. It gives the reason if they are skipped. */
export const withKcadm = hasKcadm ? 'with kcadm.sh' : 'skipped: no kcadm.sh or no Keycloak'

/** The result of a command. */
export interface KcadmResult {
  readonly status: string
  readonly out: string
  readonly err: string
}

/**
 * Runs lines of bash on a server, one after another in one shell, so that a line may use variables and files of earlier ones.
 * In them, `kcadm.sh` is the tool, and `SERVER` the URL of the server.
 */
export async function runKcadm(server: string, lines: readonly string[]): Promise<KcadmResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-kcadm-'))
  const script = lines.map((line, at) => `{ ${line}\n} > ${at}.out 2> ${at}.err; echo $? > ${at}.status`)
  await writeFile(join(folder, 'script'), ['kcadm.sh() { "$KCADM" "$@"; }', ...script, ''].join('\n'))
  const child = spawn('bash', ['script'], {
    cwd: folder,
    stdio: 'inherit',
    env: {
      ...process.env,
      KCADM: tool,
      SERVER: server,
      // The tool keeps its session below the home of the user. Each command is a JVM that is not worth optimizing.
      KC_OPTS: `-Duser.home=${folder} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC`,
    },
  })
  await once(child, 'close')
  const read = (at: number, name: string) => readFile(join(folder, `${at}.${name}`), 'utf8')
  const results = await Promise.all(
    lines.map(async (_, at) => ({
      status: (await read(at, 'status')).trim(),
      out: await read(at, 'out'),
      err: await read(at, 'err'),
    })),
  )
  await rm(folder, { recursive: true })
  return results
}
