import { styleText } from 'node:util'
import type { Paint } from '../reconcile/report/paint.ts'

/** Colours a text if the output is a terminal and NO_COLOR is not set. */
export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout })
