// What editors and pipelines use: templates of `regent init`, the JSON schema, reports of `regent lint`, and the steps of the files for
// pre-commit, GitHub and GitLab, which run with a shell as there.
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder, type RunningServer } from '../support/cli.ts'

const root = join(import.meta.dirname, '..', '..')
const readYaml = async <T>(file: string) => load(await readFile(join(root, file), 'utf8')) as T

let cli: CommandFolder
let server: RunningServer
beforeAll(async () => {
  cli = await createCommandFolder()
  // Each folder has a name of its own.
  await rm(join(cli.folder, 'regent.yaml'))
  await mkdir(join(cli.folder, 'realms'))
  await writeFile(join(cli.folder, 'realms', 'risky.yaml'), RISKY)
  server = await cli.serve('--source', '')
}, 60_000)
afterAll(async () => {
  await server.stop()
  await cli.remove()
})

const RISKY = `realm: risky
passwordPolicy: length(12)
bruteForceProtected: true
clients:
  - clientId: old
    redirectUris: ['http://example.com/*']
    implicitFlowEnabled: true
`
const login = () => ({ REGENT_SERVER: server.url, REGENT_USER: 'admin', REGENT_PASSWORD: 'admin' })

describe('regent init --template', () => {
  test.each(['spa', 'service', 'b2b', 'minimal'])(
    '%s writes a realm that lints clean, and applies',
    async (template) => {
      const folder = `init-${template}`
      await mkdir(join(cli.folder, folder))
      const file = `${folder}/${template}-realm.yaml`
      const run = async (...args: string[]) => {
        const { code, out, err } = await cli.shell(`regent ${args.join(' ')}`, login())
        expect(code, err).toBe(0)
        return out
      }
      await run('init', file, '--template', template, '--name', folder)
      expect(await readFile(join(cli.folder, file), 'utf8')).toMatch(
        /^# yaml-language-server: \$schema=https:\S+\nrealm: /,
      )
      expect(await run('lint', folder, '--strict')).toBe('No findings.\n')
      expect(await run('apply', folder)).not.toMatch(/lint:|note:/)
      expect(await run('plan', folder)).toContain('Nothing to do.')
    },
  )
})

test('the JSON schema is at a public URL of the server, and in the package', async () => {
  const response = await fetch(`${server.url}/realm.schema.json`)
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('public, max-age=3600')
  const file = JSON.parse(await readFile(join(root, 'schema', 'realm.schema.json'), 'utf8'))
  expect(await response.json()).toEqual(file)
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  expect(exports).toHaveProperty(['./schema/realm.schema.json'], './schema/realm.schema.json')
})

/** The parts of SARIF 2.1.0 that GitHub requires. */
const sarifSubset = {
  type: 'object',
  required: ['$schema', 'version', 'runs'],
  properties: {
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['tool', 'results'],
        additionalProperties: false,
        properties: {
          tool: {
            type: 'object',
            required: ['driver'],
            properties: {
              driver: {
                type: 'object',
                required: ['name', 'rules'],
                properties: {
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: {
                      type: 'object',
                      required: ['id', 'shortDescription', 'helpUri'],
                      properties: { helpUri: { type: 'string', pattern: '^https://' } },
                    },
                  },
                },
              },
            },
          },
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: {
            type: 'array',
            items: {
              type: 'object',
              required: ['ruleId', 'ruleIndex', 'message', 'locations', 'partialFingerprints'],
              properties: {
                level: { enum: ['none', 'note', 'warning', 'error'] },
                message: { type: 'object', required: ['text'] },
                partialFingerprints: { type: 'object', additionalProperties: { type: 'string' } },
                locations: {
                  type: 'array',
                  minItems: 1,
                  items: {
                    type: 'object',
                    required: ['physicalLocation'],
                    properties: {
                      physicalLocation: {
                        type: 'object',
                        required: ['artifactLocation', 'region'],
                        properties: {
                          artifactLocation: {
                            type: 'object',
                            required: ['uri'],
                            properties: { uri: { type: 'string', pattern: '^[^/\\\\ ][^ ]*$' } },
                          },
                          region: {
                            type: 'object',
                            required: ['startLine'],
                            properties: {
                              startLine: { type: 'integer', minimum: 1 },
                              startColumn: { type: 'integer', minimum: 1 },
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
}

interface Finding {
  readonly rule: string
  readonly position: { readonly line: number }
}

describe('regent lint', () => {
  const lint = async (format: string) => JSON.parse((await cli.run('lint', 'realms', '--output', format)).out)

  test('--output sarif prints each finding as a result of SARIF 2.1.0', async () => {
    const sarif = await lint('sarif')
    const validate = new Ajv({ allErrors: true }).compile(sarifSubset)
    expect(validate(sarif), JSON.stringify(validate.errors)).toBe(true)
    const { findings } = (await lint('json')) as { findings: Finding[] }
    expect(findings.length).toBeGreaterThan(0)
    const [run] = sarif.runs
    expect(
      run.results.map(
        (result: { ruleIndex: number; locations: { physicalLocation: { region: { startLine: number } } }[] }) => [
          run.tool.driver.rules[result.ruleIndex].id,
          result.locations[0]!.physicalLocation.region.startLine,
        ],
      ),
    ).toEqual(findings.map(({ rule, position }) => [rule, position.line]))
  })

  test('--output gitlab prints findings whose fingerprints stay when lines are inserted above', async () => {
    const before = await lint('gitlab')
    await writeFile(join(cli.folder, 'realms', 'risky.yaml'), `# A comment.\n${RISKY}`)
    const after = await lint('gitlab')
    await writeFile(join(cli.folder, 'realms', 'risky.yaml'), RISKY)
    const toPrints = (report: { fingerprint: string }[]) => report.map(({ fingerprint }) => fingerprint)
    expect(toPrints(after)).toEqual(toPrints(before))
    expect(new Set(toPrints(before)).size).toBe(before.length)
    expect(after[0].location.lines.begin).toBe(before[0].location.lines.begin + 1)
  })
})

const hasPreCommit = spawnSync('pre-commit', ['--version']).status === 0

test.skipIf(!hasPreCommit)(
  'pre-commit runs the hooks on a repository, where it is installed',
  async () => {
    const hooks = await readYaml<object[]>('.pre-commit-hooks.yaml')
    // The command under test is in the path, so that nothing is installed.
    const local = { repo: 'local', hooks: hooks.map((hook) => ({ ...hook, language: 'system' })) }
    const folder = join(cli.folder, 'repository')
    await mkdir(folder)
    await writeFile(join(folder, '.pre-commit-config.yaml'), JSON.stringify({ repos: [local] }))
    const run = async (realm: string) => {
      await writeFile(join(folder, 'realm.yaml'), realm)
      const { code, out } = await cli.shell(
        'cd repository && git init --quiet && git add --all && pre-commit run --all-files',
        { PRE_COMMIT_HOME: join(cli.folder, 'pre-commit') },
      )
      return { code, lines: out.match(/^regent \w+\.+\w+$/gm)?.map((line) => line.replace(/\.+/, ' ')) }
    }
    const valid = RISKY.replace(/clients[\s\S]*/, 'revokeRefreshToken: true\n')
    expect(await run(valid)).toEqual({ code: 0, lines: ['regent validate Passed', 'regent lint Passed'] })
    expect(await run(RISKY)).toEqual({ code: 1, lines: ['regent validate Passed', 'regent lint Failed'] })
  },
  60_000,
)

test('the hooks of pre-commit run commands that pass for valid files, and fail for others', async () => {
  const hooks =
    await readYaml<{ id: string; entry: string; args: string[]; pass_filenames: boolean }[]>('.pre-commit-hooks.yaml')
  expect(hooks.map(({ id }) => id)).toEqual(['regent-validate', 'regent-lint'])
  const codes = async () => {
    const results: (number | null)[] = []
    for (const { entry, args } of hooks)
      results.push((await cli.shell(`cd hooked && ${entry} ${args.join(' ')}`, {})).code)
    return results
  }
  await mkdir(join(cli.folder, 'hooked'))
  await writeFile(
    join(cli.folder, 'hooked', 'realm.yaml'),
    RISKY.replace(/clients[\s\S]*/, 'revokeRefreshToken: true\n'),
  )
  expect(await codes()).toEqual([0, 0])
  await writeFile(join(cli.folder, 'hooked', 'realm.yaml'), RISKY)
  expect(await codes()).toEqual([0, 1])
  await writeFile(join(cli.folder, 'hooked', 'realm.yaml'), 'realm: a\ndisplayNam: b\n')
  expect(await codes()).toEqual([1, 1])
})

interface ActionStep {
  readonly id: string
  readonly run: string
  readonly env: Readonly<Record<string, string>>
}

describe('the GitHub action', () => {
  /** Runs the step `run` with inputs, as GitHub does with `shell: bash`. */
  async function runAction(inputs: Readonly<Record<string, string>>) {
    const action = await readYaml<{
      inputs: Record<string, { default: string }>
      runs: { steps: ActionStep[] }
    }>('action.yml')
    const step = action.runs.steps.find(({ id }) => id === 'run')!
    const env = Object.entries(step.env).map(([name, value]): [string, string] => {
      const [, input = ''] = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(value)!
      return [name, inputs[input] ?? action.inputs[input]!.default]
    })
    await rm(join(cli.folder, 'runner'), { recursive: true, force: true })
    await mkdir(join(cli.folder, 'runner'))
    const runner = join(cli.folder, 'runner')
    await writeFile(join(runner, 'step.sh'), step.run)
    const github = {
      RUNNER_TEMP: runner,
      GITHUB_OUTPUT: join(runner, 'output'),
      GITHUB_STEP_SUMMARY: join(runner, 'summary'),
    }
    const result = await cli.shell('bash --noprofile --norc -eo pipefail runner/step.sh', {
      ...login(),
      ...github,
      ...Object.fromEntries(env),
    })
    const output = await readFile(join(runner, 'output'), 'utf8').catch(() => '')
    return { ...result, outputs: Object.fromEntries(output.split('\n').map((line) => line.split('='))) }
  }
  const at = () => ({ paths: 'realms', server: server.url, name: 'action' })

  test('plans with the changes as an output, applies, and plans nothing then', async () => {
    expect(await runAction({ ...at(), command: 'plan' })).toMatchObject({ code: 0, outputs: { changes: 'true' } })
    expect(await readFile(join(cli.folder, 'runner', 'summary'), 'utf8')).toContain('### Realm `risky`')
    expect(await runAction({ ...at(), command: 'apply' })).toMatchObject({
      code: 0,
      out: expect.stringContaining('Applied:'),
    })
    expect(await runAction({ ...at(), command: 'plan' })).toMatchObject({ code: 0, outputs: { changes: 'false' } })
  })

  test('lints to a file in SARIF, validates, and fails for other commands', async () => {
    const { code, outputs } = await runAction({ paths: 'realms', command: 'lint' })
    expect(code).toBe(0)
    expect(JSON.parse(await readFile(outputs.report!, 'utf8')).version).toBe('2.1.0')
    expect(await runAction({ paths: 'realms', command: 'validate' })).toMatchObject({ code: 0 })
    expect(await runAction({ paths: 'missing', command: 'validate' })).toMatchObject({ code: 1 })
    expect(await runAction({ command: 'destroy' })).toMatchObject({ code: 1 })
  })

  test('takes shell commands in an input as text', async () => {
    await runAction({ ...at(), command: 'plan', name: '$(touch owned)', args: '; touch owned' })
    await expect(readFile(join(cli.folder, 'owned'))).rejects.toThrow('ENOENT')
  })
})

test('the jobs of the GitLab template lint, plan and apply', async () => {
  type Job = { script: string[]; artifacts?: { reports?: { codequality: string } } }
  const jobs = await readYaml<Record<string, Job>>('examples/gitlab/.gitlab-ci.yml')
  const env = { ...login(), REALMS: 'realms', SOURCE: 'gitlab' }
  const runJob = async (name: string) => {
    await writeFile(join(cli.folder, 'job.sh'), jobs[name]!.script.join('\n'))
    const { code, out, err } = await cli.shell('bash -eo pipefail job.sh', env)
    expect(code, err).toBe(0)
    return out
  }
  await runJob('lint')
  const report = await readFile(join(cli.folder, jobs.lint!.artifacts!.reports!.codequality), 'utf8')
  expect(JSON.parse(report)[0]).toMatchObject({
    fingerprint: expect.stringMatching(/^[\da-f]{64}$/),
    severity: 'minor',
  })
  await writeFile(join(cli.folder, 'realms', 'risky.yaml'), RISKY.replace('realm: risky', 'realm: gitlab-risky'))
  expect(await runJob('plan')).toContain('### Realm `gitlab-risky`')
  expect(await runJob('apply')).toContain('Applied:')
})
