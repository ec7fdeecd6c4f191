// The log of a server as text for terminals. The logger writes lines of JSON.
import type { ServerSettings } from '../../config.ts'
import { parseJsonOrNull } from '../../lib/http/http-request.ts'
import { formatTime } from '../../reconcile/model/attribution.ts'
import { type Paint, withoutColors } from '../../reconcile/report/paint.ts'
import { paint } from '../paint.ts'

/** Names and styles of the levels, by the numbers in log lines. */
const LEVELS: Readonly<Record<number, readonly [name: string, style?: Parameters<Paint>[0]]>> = {
  10: ['trace', 'dim'],
  20: ['debug', 'dim'],
  30: ['info'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
}

/** Fields that each line has, and that are of no use on a terminal. */
const OMITTED = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err', 'spanId'])

/** Whether log lines are text: by the setting, or on a terminal. */
export function hasTextLog(
  format: ServerSettings['logFormat'],
  output: { readonly isTTY?: boolean } = process.stdout,
): boolean {
  return format === 'text' || (format === 'auto' && output.isTTY === true)
}

/** Prints log lines as text. */
export const textLog = {
  write(line: string): void {
    process.stdout.write(`${renderLogLine(line, paint)}\n`)
  },
}

/** Renders a log line in JSON: time, level, message, the other fields, and the stack of an error on lines of its own. */
export function renderLogLine(line: string, paint: Paint = withoutColors): string {
  const entry = parseJsonOrNull(line)
  if (!isRecord(entry)) return line.trimEnd()
  const { level, time, msg, err } = entry
  const [name, style] = LEVELS[Number(level)] ?? [String(level)]
  const fields = Object.entries(entry).flatMap(([field, value]) =>
    OMITTED.has(field) || value == null ? [] : `${field}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const stack = isRecord(err) ? String(err.stack ?? err.message ?? '') : ''
  const padded = name.padEnd(5)
  return [
    paint('dim', formatTime(new Date(Number(time)).toISOString())),
    style ? paint(style, padded) : padded,
    String(msg ?? ''),
    ...(fields.length ? [paint('dim', fields.join(' '))] : []),
    ...(stack ? [`\n${stack.replace(/^/gm, '  ')}`] : []),
  ]
    .join(' ')
    .replaceAll(' \n', '\n')
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
