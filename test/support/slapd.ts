// OpenLDAP's server for tests, on a port of its own, with the entries of an LDIF text.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './postgres.ts'

/** A running directory. */
export interface TestDirectory {
  /** Its URL, `ldap://`. */
  readonly url: string
  readonly port: number
  /** Suspends its process: it accepts connections, and responds after `resume`. */
  pause(): Promise<void>
  resume(): void
  /** Starts a stopped directory again, on the same port with the same entries. */
  restart(): Promise<void>
  /** Ends the process and waits for it; the entries remain until `remove`. */
  stop(): Promise<void>
  /** Stops the directory and removes its folder. */
  remove(): Promise<void>
}

/** Settings of a directory. */
export interface DirectoryOptions {
  /** Entries below `dc=example,dc=org`, in LDIF. */
  readonly entries: string
  /** Paths of a certificate and its key, with which the directory speaks TLS. */
  readonly certificate?: { readonly certificateFile: string; readonly keyFile: string } | undefined
  /** Whether the URL is `ldaps://`. */
  readonly ldaps?: boolean
  /** Most entries of a response without paging, as the setting `sizelimit`. */
  readonly sizeLimit?: string
  readonly port?: number
}

/** The administrator of the directory, and the password. */
export const DIRECTORY_ADMIN = { dn: 'cn=admin,dc=example,dc=org', password: 'admin' }

const SLAPD = '/usr/sbin/slapd'

/** Whether slapd is installed. */
export const hasSlapd = existsSync(SLAPD)

/** Starts a directory. */
export async function startSlapd(options: DirectoryOptions): Promise<TestDirectory> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-slapd-'))
  await mkdir(join(folder, 'db'))
  const configFile = join(folder, 'slapd.conf')
  await writeFile(configFile, renderConfig(folder, options))
  await writeFile(join(folder, 'entries.ldif'), `${ROOT}\n${options.entries}`)
  execFileSync('/usr/sbin/slapadd', ['-q', '-f', configFile, '-l', join(folder, 'entries.ldif')], { stdio: 'pipe' })
  const port = options.port ?? (await freePort())
  const url = `${options.ldaps ? 'ldaps' : 'ldap'}://127.0.0.1:${port}`
  const start = async () => {
    const child = spawn(SLAPD, ['-f', configFile, '-h', url, '-d', '0'], { stdio: 'ignore' })
    await waitForPort(port, () => child.exitCode === null)
    return child
  }
  let child = await start()
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return {
    url,
    port,
    async pause() {
      child.kill('SIGSTOP')
      // Its threads stop one after the other.
      while (!isSuspended(child.pid!)) await delay(5)
    },
    resume() {
      child.kill('SIGCONT')
    },
    stop,
    async restart() {
      await stop()
      child = await start()
    },
    async remove() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Whether all threads of a process are stopped by a signal, which the third field of its `stat` says. */
function isSuspended(pid: number): boolean {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.every((thread) => /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')))
}

const ROOT = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
dc: example
o: Example
`

function renderConfig(folder: string, { certificate, sizeLimit = 'unlimited' }: DirectoryOptions): string {
  const schemas = ['core', 'cosine', 'nis', 'inetorgperson', 'msuser'].map(
    (name) => `include /etc/ldap/schema/${name}.schema`,
  )
  const tls = certificate
    ? [`TLSCertificateFile ${certificate.certificateFile}`, `TLSCertificateKeyFile ${certificate.keyFile}`]
    : []
  return [
    ...schemas,
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    ...tls,
    `sizelimit ${sizeLimit}`,
    'database mdb',
    'suffix "dc=example,dc=org"',
    `rootdn "${DIRECTORY_ADMIN.dn}"`,
    `rootpw ${DIRECTORY_ADMIN.password}`,
    `directory ${join(folder, 'db')}`,
    'maxsize 268435456',
    'dbnosync',
    'index objectClass,uid,entryUUID,cn,mail,member,modifyTimestamp eq',
    '',
  ].join('\n')
}

async function waitForPort(port: number, isRunning: () => boolean): Promise<void> {
  while (isRunning()) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    )
    socket.destroy()
    if (isOpen) return
    await delay(20)
  }
  throw new Error('slapd did not start')
}
