import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aboveBounds, measure } from '../scripts/structure.ts'

const lines = (count: number) => '  f()\n'.repeat(count)

test('long functions, many parameters, casts and small files are counted, with their positions', async () => {
  const root = await mkdtemp(join(tmpdir(), 'regent-structure-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await mkdir(join(root, 'src/lib'), { recursive: true })
  await writeFile(join(root, 'tsconfig.json'), '{ "include": ["src"] }')
  await writeFile(join(root, 'src/lib/f.ts'), 'export const f = (a, b, c, d) => a as const\n')
  await writeFile(join(root, 'src/lib/h.ts'), `export function h(a: 1 | 2, b = 3, c = 4) {\n${lines(58)}}\n`)
  await writeFile(
    join(root, 'src/lib/g.ts'),
    `import { f } from './f.ts'\n\nexport function g() {\n${lines(59)}}\nconst x = (f as unknown) as string\n`,
  )
  expect(measure(root)).toEqual({
    longFunctions: ['src/lib/g.ts:3 g: 61 lines'],
    manyParameters: ['src/lib/f.ts:1 f: 4 parameters'],
    casts: ['src/lib/g.ts:64', 'src/lib/g.ts:64'],
    doubleCasts: ['src/lib/g.ts:64'],
    crowdedFolders: [],
    smallFiles: ['src/lib/f.ts: 1 lines, for src/lib/g.ts'],
  })
})

test('a figure above its bound is reported, one at its bound is not', () => {
  const structure = {
    longFunctions: ['a'],
    manyParameters: ['a', 'b'],
    casts: [],
    doubleCasts: [],
    crowdedFolders: [],
    smallFiles: [],
  }
  const bounds = { longFunctions: 1, manyParameters: 1, casts: 0, doubleCasts: 0, crowdedFolders: 0, smallFiles: 0 }
  expect(aboveBounds(structure, bounds)).toEqual(['manyParameters: 2, limit 1'])
})
