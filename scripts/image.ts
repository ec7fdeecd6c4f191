// Makes in a folder what the image holds, by the steps of the Dockerfile, and starts it as the image does: what can be tried where
// there is no container engine. Steps that install into the system are left out.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

/** What the last stage says of how it runs. */
interface Image {
  readonly root: string
  folder: string
  user: string
  entry: string[]
  command: string[]
  readonly env: Record<string, string>
}

const pinned = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  devDependencies: { node: string }
}

/** Carries out the Dockerfile of the current folder; gives the last stage. */
function built(work: string): Image {
  const stages: Image[] = []
  const named = new Map<string, Image>()
  const last = () => stages.at(-1)!
  const at = (path: string, { root, folder } = last()) => join(root, path.startsWith('/') ? path : join(folder, path))
  const steps: Record<string, (rest: string) => unknown> = {
    FROM(rest) {
      const [image, , name = ''] = rest.split(' ')
      demand(image!.startsWith(`node:${pinned.devDependencies.node}-`), `${image} has another Node than package.json`)
      const stage = {
        root: join(work, `stage-${stages.length}`),
        folder: '/',
        user: 'root',
        entry: [],
        command: [],
        env: {},
      }
      stages.push(stage)
      named.set(name, stage)
    },
    WORKDIR(rest) {
      last().folder = rest
      mkdirSync(at('.'), { recursive: true })
    },
    COPY(rest) {
      const [from, ...all] = rest.startsWith('--from=')
        ? rest.slice('--from='.length).split(' ')
        : ['', ...rest.split(' ')]
      const [to, sources] = [all.at(-1)!, all.slice(0, -1)]
      const source = named.get(from!)
      const files = sources.flatMap((one) => (source ? [at(one, source)] : one === '.' ? sent : [one]))
      if (!source) for (const one of files) demand(sent.includes(one), `.dockerignore leaves out ${one}`)
      for (const one of files) {
        const target = to.endsWith('/') || to === '.' ? join(at(to), one.split('/').at(-1)!) : at(to)
        cpSync(one, target, { recursive: true, verbatimSymlinks: true })
      }
    },
    RUN(rest) {
      if (rest.startsWith('apt-get ')) return console.log(`left out: ${rest}`)
      console.log(rest)
      const { status } = spawnSync(rest, { shell: true, cwd: at('.'), stdio: 'inherit' })
      demand(status === 0, `it ended with ${status}`)
    },
    USER: (rest) => Object.assign(last(), { user: rest }),
    ENV: (rest) => Object.assign(last().env, Object.fromEntries([rest.split('=')])),
    EXPOSE: () => {},
    ENTRYPOINT: (rest) => Object.assign(last(), { entry: JSON.parse(rest) }),
    CMD: (rest) => Object.assign(last(), { command: JSON.parse(rest) }),
  }
  for (const line of readFileSync('Dockerfile', 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')) {
    const [, name, rest] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
    if (name) (steps[name] ?? (() => demand(false, `${name} is not known here`)))(rest!)
  }
  return last()
}

/** What is sent to be built from: what .dockerignore lets pass, which leaves out everything else. */
const sent = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))

/** Starts it, as who the image says; gives how it ended, and what it said. `until`: it is stopped once it says that. */
async function started({ root, folder, user, entry, env }: Image, args: readonly string[], until?: RegExp) {
  const [uid, gid] = user.split(':').map(Number)
  const asWho = process.getuid?.() === 0 ? { uid: uid!, gid: gid! } : {}
  const node = dirname(process.execPath)
  const server = spawn(entry[0]!, [...entry.slice(1), ...args], {
    ...asWho,
    cwd: join(root, folder),
    env: { ...env, PATH: [node, process.env.PATH].join(delimiter), HOME: '/tmp', REGENT_SOURCE: '' },
  })
  let said = ''
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk
      const found = until?.exec(said)
      if (found)
        void fetch(`${found[1]}/health/ready`).then(({ status }) => {
          said += `\nhealth: ${status}`
          server.kill()
        })
    })
  const [code] = await once(server, 'close')
  return { code, said }
}

function demand(is: boolean, otherwise: string): void {
  if (!is) throw new Error(otherwise)
}

const hadolint = [...(process.env.PATH ?? '').split(delimiter), '.venv/bin']
  .map((one) => join(one, 'hadolint'))
  .find(existsSync)
if (!hadolint) console.log('hadolint is not here: npm run install:hadolint')
else
  demand(
    spawnSync(hadolint, ['Dockerfile'], { stdio: 'inherit' }).status === 0,
    'hadolint has something against the Dockerfile',
  )

const work = mkdtempSync(join(tmpdir(), 'regent-image-'))
try {
  chmodSync(work, 0o755)
  const image = built(work)
  demand(/^[1-9]\d*:\d+$/.test(image.user), `the user must be a number, and not root: ${image.user}`)
  const version = await started(image, ['--version'])
  demand(version.said.trim() === pinned.version, `it says that it is ${version.said}`)
  // What the chart gives is not there.
  const bare = await started(image, image.command)
  demand(bare.code === 1 && bare.said.includes('REGENT_DATABASE'), `without settings it says: ${bare.said}`)
  const data = join(work, 'data')
  mkdirSync(data)
  chmodSync(data, 0o777)
  const served = await started(image, ['serve', '--data', data, '--port', '0'], /ready at (http:\S+)/)
  demand(served.code === 0 && served.said.includes('health: 200'), `it does not serve: ${served.said}`)
  console.log('The image can be built, and serves.')
} finally {
  rmSync(work, { recursive: true })
}
