// A cluster of one test's own, which it may restart and empty: where REGENT_KUBE names a command that starts one with
// `up [--keep]` and ends it with `down [--keep]` (its data stays), in the folder KUBE_DIR, at APISERVER_PORT and ETCD_PORT.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './postgres.ts'

const command = process.env.REGENT_KUBE

/** Whether there can be one. */
export const hasOwnCluster = Boolean(command)

/** What tests on one are called, which says so where they are left out. */
export const onOwnCluster = hasOwnCluster ? 'on a cluster of its own' : 'skipped: REGENT_KUBE starts no Kubernetes'

/** A cluster that runs, or not. */
export interface OwnCluster {
  /** File with the configuration of its administrator, the same as long as it lives. */
  readonly config: string
  /** Stops it; what there is in it stays for the next start. */
  stop(): Promise<void>
  /** Starts it again. */
  start(): Promise<void>
  /** Starts it with nothing in it, under the same address. */
  startEmpty(): Promise<void>
  /** Leaves nothing of it. */
  remove(): Promise<void>
}

/** Starts it. */
export async function startOwnCluster(): Promise<OwnCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-kube-'))
  const ports = { APISERVER_PORT: String(await freePort()), ETCD_PORT: String(await freePort()) }
  const env = { ...process.env, ...ports, KUBE_DIR: folder }
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(command!, args, { env })
    return stdout
  }
  // However this process ends, it ends the cluster.
  const keeper = spawn('sh', ['-c', 'cat; "$0" down; rm -rf "$KUBE_DIR"', command!], {
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const config = /KUBECONFIG=(.+)/.exec(await run('up'))![1]!
  return {
    config,
    stop: async () => void (await run('down', '--keep')),
    start: async () => void (await run('up', '--keep')),
    startEmpty: async () => void (await run('up')),
    async remove() {
      keeper.stdin.end()
      await once(keeper, 'exit')
    },
  }
}
