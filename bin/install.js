// Installs the dependencies when they are missing or older than the lock file. Plain JavaScript: an older Node runs it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const installed = join(root, 'node_modules', '.package-lock.json')
const lock = join(root, 'package-lock.json')

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  console.log('Installing dependencies …')
  const install = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  // npm leaves out, without a word, the platform packages that do not admit the Node under which it runs.
  const [major, minor] = process.versions.node.split('.').map(Number)
  const pinned = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies.node
  const underPinned = ['exec', '--yes', `--package=node@${pinned}`, '--', 'npm']
  const old = major < 20 || (major === 20 && minor < 19)
  const npm = () =>
    spawnSync('npm', old ? [...underPinned, ...install] : install, {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    }).status
  // npm repeats its own requests, but not the nested run that fetches Node.
  let status = npm()
  for (let attempt = 2; status !== 0 && attempt <= 3; attempt++) {
    console.log(`The installation failed (exit status ${status}); attempt ${attempt} of 3 …`)
    status = npm()
  }
  if (status !== 0) process.exit(status ?? 1)
}
