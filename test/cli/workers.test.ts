// Several processes serve one port.
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type CommandFolder, callAsAdmin, createCommandFolder, type RunningCommand } from '../support/cli.ts'

const WORKERS = 4
const CLIENTS = 4

test('several workers on the embedded store are refused', async () => {
  const folder = await createCommandFolder({ REGENT_DATABASE: '' })
  const { code, err } = await folder.run('serve', '--workers', '2')
  await folder.remove()
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('--database') })
})

describe.runIf(inject('databaseUrl'))('with several workers', () => {
  let folder: CommandFolder
  let server: RunningCommand
  let url: string
  beforeAll(async () => {
    folder = await createCommandFolder()
    server = folder.start('serve', '--port', '0', '--source=', '--workers', String(WORKERS))
    url = /ready at (\S+)/.exec(await server.waitForOutput('Regent is ready at '))![1]!
    await waitFor(() => listWorkers().length === WORKERS)
  })
  afterAll(() => folder.remove())

  /** Returns the process ids of the workers. */
  const listWorkers = (): number[] => {
    const processes = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)?.slice(1) ?? [])
    const primary = server.pid
    return processes.filter(([, parent]) => Number(parent) === primary).map(([pid]) => Number(pid))
  }

  test('the metrics are those of all workers', async () => {
    const before = await countReadyRequests(url)
    // New connections go to one worker after the other.
    for (let sent = 0; sent < 6; sent++) await fetch(`${url}/health/ready`, { headers: { connection: 'close' } })
    const counts = new Set<number>()
    for (let read = 0; read < 4; read++) counts.add(await countReadyRequests(url))
    expect([...counts]).toEqual([before + 6])
  })

  test('what one worker writes is what all read a second later', async () => {
    await callAsAdmin(url, { method: 'POST', path: '', body: { realm: 'team', displayName: 'Before' } })
    const readNames = async () => {
      const names = new Set<string>()
      for (let read = 0; read < 6; read++)
        names.add((await callAsAdmin<{ displayName: string }>(url, { path: '/team' })).body.displayName)
      return [...names]
    }
    expect(await readNames()).toEqual(['Before'])
    await callAsAdmin(url, { method: 'PUT', path: '/team', body: { displayName: 'After' } })
    await sleep(1_000)
    expect(await readNames()).toEqual(['After'])
  })

  test('a restart of all workers fails no request', async () => {
    const before = listWorkers()
    const failures: string[] = []
    let requests = 0
    let isOver = false
    const sendRepeatedly = async () => {
      while (!isOver) {
        const status = await fetch(`${url}/realms/master/.well-known/openid-configuration`).then(
          async (response) => {
            await response.arrayBuffer()
            return String(response.status)
          },
          (error: Error) => `${error.message}: ${error.cause}`,
        )
        requests++
        if (status !== '200') failures.push(status)
      }
    }
    const clients = Array.from({ length: CLIENTS }, sendRepeatedly)
    process.kill(server.pid, 'SIGUSR2')
    await server.waitForOutput('All workers were restarted.')
    isOver = true
    await Promise.all(clients)
    expect(failures).toEqual([])
    expect(requests).toBeGreaterThan(CLIENTS)
    expect(listWorkers().filter((pid) => before.includes(pid))).toEqual([])
    expect(listWorkers()).toHaveLength(WORKERS)
  })

  test('a worker that ends is replaced', async () => {
    const [killed] = listWorkers()
    process.kill(killed!, 'SIGKILL')
    await waitFor(() => listWorkers().length === WORKERS && !listWorkers().includes(killed!))
    // The connection to the killed worker may be tried first.
    const readStatus = () => fetch(`${url}/health/ready`).then(({ status }) => status, String)
    await expect.poll(readStatus).toBe(200)
    expect(await server.stop()).toBe(0)
  })
})

async function countReadyRequests(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(
    /^regent_http_request_duration_seconds_count\{operation="\/health\/ready".*\} (\d+)$/m.exec(metrics)?.[1] ?? 0,
  )
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(50)
}
