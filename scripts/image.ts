// Builds the content of the image in a folder by the steps of the Dockerfile, and starts it like the image, to test the Dockerfile
// without a container engine. Steps that install system packages are skipped.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

/** A stage of the Dockerfile, with its configuration. */
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

/** Builds the Dockerfile of the current folder and returns the last stage. */
function build(work: string): Image {
  const stages: Image[] = []
  const stagesByName = new Map<string, Image>()
  const last = () => stages.at(-1)!
  const resolve = (path: string, { root, folder } = last()) =>
    join(root, path.startsWith('/') ? path : join(folder, path))
  const steps: Record<string, (rest: string) => unknown> = {
    FROM(rest) {
      const [image, , name = ''] = rest.split(' ')
      check(
        image!.startsWith(`node:${pinned.devDependencies.node}-`),
        `${image} has another Node version than package.json`,
      )
      const stage = {
        root: join(work, `stage-${stages.length}`),
        folder: '/',
        user: 'root',
        entry: [],
        command: [],
        env: {},
      }
      stages.push(stage)
      stagesByName.set(name, stage)
    },
    WORKDIR(rest) {
      last().folder = rest
      mkdirSync(resolve('.'), { recursive: true })
    },
    COPY(rest) {
      const [from, ...paths] = rest.startsWith('--from=')
        ? rest.slice('--from='.length).split(' ')
        : ['', ...rest.split(' ')]
      const [to, sources] = [paths.at(-1)!, paths.slice(0, -1)]
      const stage = stagesByName.get(from!)
      const files = sources.flatMap((path) => (stage ? [resolve(path, stage)] : path === '.' ? contextFiles : [path]))
      if (!stage) for (const file of files) check(contextFiles.includes(file), `.dockerignore excludes ${file}`)
      for (const file of files) {
        const target = to.endsWith('/') || to === '.' ? join(resolve(to), file.split('/').at(-1)!) : resolve(to)
        cpSync(file, target, { recursive: true, verbatimSymlinks: true })
      }
    },
    RUN(rest) {
      if (rest.startsWith('apt-get ')) return console.log(`skipped: ${rest}`)
      console.log(rest)
      const { status } = spawnSync(rest, { shell: true, cwd: resolve('.'), stdio: 'inherit' })
      check(status === 0, `${rest} ended with exit code ${status}`)
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
    if (name)
      (steps[name] ?? (() => check(false, `the instruction ${name} is not supported by scripts/image.ts`)))(rest!)
  }
  return last()
}

/** The files of the build context: the exceptions in .dockerignore, which excludes everything else. */
const contextFiles = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))

/**
 * Starts the image with these arguments as its user, and returns the exit code and the output. Once the output matches `until`,
 * which captures the URL, it requests the health of the server and stops it.
 */
async function start({ root, folder, user, entry, env }: Image, args: readonly string[], until?: RegExp) {
  const [uid, gid] = user.split(':').map(Number)
  const ids = process.getuid?.() === 0 ? { uid: uid!, gid: gid! } : {}
  const node = dirname(process.execPath)
  const server = spawn(entry[0]!, [...entry.slice(1), ...args], {
    ...ids,
    cwd: join(root, folder),
    env: { ...env, PATH: [node, process.env.PATH].join(delimiter), HOME: '/tmp', REGENT_SOURCE: '' },
  })
  let output = ''
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk
      const match = until?.exec(output)
      if (match)
        void fetch(`${match[1]}/health/ready`).then(({ status }) => {
          output += `\nhealth: ${status}`
          server.kill()
        })
    })
  const [code] = await once(server, 'close')
  return { code, output }
}

function check(isExpected: boolean, message: string): void {
  if (!isExpected) throw new Error(message)
}

const hadolint = [...(process.env.PATH ?? '').split(delimiter), '.venv/bin']
  .map((folder) => join(folder, 'hadolint'))
  .find(existsSync)
if (!hadolint) console.log('hadolint is not installed. Install it with: npm run install:hadolint')
else
  check(
    spawnSync(hadolint, ['Dockerfile'], { stdio: 'inherit' }).status === 0,
    'hadolint found problems in the Dockerfile',
  )

const work = mkdtempSync(join(tmpdir(), 'regent-image-'))
try {
  chmodSync(work, 0o755)
  const image = build(work)
  check(/^[1-9]\d*:\d+$/.test(image.user), `the user must be a numeric id other than root: ${image.user}`)
  const version = await start(image, ['--version'])
  check(version.output.trim() === pinned.version, `expected version ${pinned.version}: ${version.output}`)
  // The default command requires settings that the chart sets.
  const unconfigured = await start(image, image.command)
  check(
    unconfigured.code === 1 && unconfigured.output.includes('REGENT_DATABASE'),
    `expected an error about REGENT_DATABASE without settings: ${unconfigured.output}`,
  )
  const data = join(work, 'data')
  mkdirSync(data)
  chmodSync(data, 0o777)
  const served = await start(image, ['serve', '--data', data, '--port', '0'], /ready at (http:\S+)/)
  check(served.code === 0 && served.output.includes('health: 200'), `the server does not start: ${served.output}`)
  console.log('The image can be built and starts.')
} finally {
  rmSync(work, { recursive: true })
}
