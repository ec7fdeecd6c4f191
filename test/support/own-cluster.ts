// A Kubernetes cluster for one test, which may restart and empty it. REGENT_KUBE is a command that starts a cluster with `up [--keep]` and
// stops it with `down [--keep]` (`--keep` keeps its data), in the folder KUBE_DIR, at APISERVER_PORT and ETCD_PORT.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './postgres.ts'

const command = process.env.REGENT_KUBE

/** Whether such clusters can be started. */
export const hasOwnCluster = Boolean(command)

/** Part of the titles of tests on such clusters. It gives the reason if they are skipped. */
export const onOwnCluster = hasOwnCluster ? 'on a cluster of its own' : 'skipped: REGENT_KUBE starts no Kubernetes'

/** A cluster, running or stopped. */
export interface OwnCluster {
  /** Path of a kubeconfig file for its administrator. It does not change. */
  readonly config: string
  /** Stops the cluster, and keeps its data. */
  stop(): Promise<void>
  /** Starts the cluster again. */
  start(): Promise<void>
  /** Starts the cluster without data, at the same address. */
  startEmpty(): Promise<void>
  /** Stops the cluster, and deletes its data. */
  remove(): Promise<void>
}

/** Starts a cluster. */
export async function startOwnCluster(): Promise<OwnCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-kube-'))
  const ports = { APISERVER_PORT: String(await freePort()), ETCD_PORT: String(await freePort()) }
  const env = { ...process.env, ...ports, KUBE_DIR: folder }
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(command!, args, { env })
    return stdout
  }
  // Stops the cluster when this process ends, for whatever reason.
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
