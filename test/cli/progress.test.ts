// The line of progress, and log lines as text.
import { expect, test } from 'vitest'
import { renderProgress } from '../../src/cli/terminal/progress.ts'
import { hasTextLog, renderLogLine } from '../../src/cli/terminal/text-log.ts'

const users = { label: 'Creating users', done: 3000, total: 10_000 }
const timing = { elapsed: 2500, doneBefore: 0 }

test('a step with a total has a share, a rate and the remaining time', () => {
  expect(renderProgress(users, timing)).toBe('Creating users 3,000/10,000 (30 %, 1,200/s, 6 s left)')
  expect(renderProgress({ ...users, done: 100 }, timing)).toBe('Creating users 100/10,000 (1 %, 40/s, 4 min 8 s left)')
  expect(renderProgress({ ...users, done: 5 }, timing)).toMatch(/\(0 %, 2\/s, 83 min 18 s left\)$/)
})

test('items that were done before the step began do not count in its rate', () => {
  expect(renderProgress(users, { ...timing, doneBefore: 500 })).toMatch(/\(30 %, 1,000\/s, 7 s left\)$/)
})

test('a step has no rate before it is half a second old', () => {
  expect(renderProgress(users, { elapsed: 400, doneBefore: 0 })).toBe('Creating users 3,000/10,000 (30 %)')
})

test('a step without a total has the number of items, or its duration', () => {
  expect(renderProgress({ label: 'Reading', done: 206 }, timing)).toBe('Reading 206 (82/s)')
  expect(renderProgress({ label: 'Writing', done: 20, unit: 'kB' }, timing)).toBe('Writing 20 kB (8/s)')
  expect(renderProgress({ label: 'Comparing' }, timing)).toBe('Comparing (3 s)')
  expect(renderProgress({ label: 'Comparing' }, { elapsed: 900, doneBefore: 0 })).toBe('Comparing')
})

test('a step of no items has no share', () => {
  expect(renderProgress({ label: 'Reading', done: 0, total: 0 }, timing)).toBe('Reading 0/0')
})

test.each([20, 40, 79, 80, 120])('the line is shorter than a terminal of %i columns', (columns) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
  const text = renderProgress(users, { ...timing, columns }).replaceAll(/\x1b\[\d+m/g, '')
  expect(text.length).toBeLessThan(columns)
  expect(text.includes('██████░░░░░░░░░░░░░░')).toBe(columns >= 80)
  expect(text.includes('1,200/s')).toBe(columns >= 79)
})

test('log lines are text on a terminal and JSON otherwise, unless the setting decides', () => {
  const decide = (isTTY: boolean) => (['auto', 'text', 'json'] as const).map((format) => hasTextLog(format, { isTTY }))
  expect(decide(true)).toEqual([true, true, false])
  expect(decide(false)).toEqual([false, true, false])
})

test('a log line as text has the time, the level, the message and the other fields', () => {
  const entry = {
    level: 40,
    time: Date.UTC(2026, 0, 31, 12, 0, 5, 250),
    pid: 1,
    hostname: 'h',
    msg: 'Slow.',
    realm: 'a',
  }
  expect(renderLogLine(JSON.stringify(entry))).toBe('2026-01-31T12:00:05Z warn  Slow. realm=a')
  expect(renderLogLine(JSON.stringify({ ...entry, level: 30, count: 3, by: { id: 'x' } }))).toBe(
    '2026-01-31T12:00:05Z info  Slow. realm=a count=3 by={"id":"x"}',
  )
})

test('the log line of an error as text has its stack on further lines', () => {
  const err = { type: 'Error', message: 'Broken.', stack: 'Error: Broken.\n    at run (a.ts:1:1)' }
  expect(renderLogLine(JSON.stringify({ level: 50, time: 0, msg: 'Broken.', err }))).toBe(
    '1970-01-01T00:00:00Z error Broken.\n  Error: Broken.\n      at run (a.ts:1:1)',
  )
})

test('a log line that is not JSON is printed as it is', () => {
  expect(renderLogLine('started\n')).toBe('started')
})
