import { styleText } from 'node:util'
import type { Paint } from '../reconcile/report/render.ts'

/** Colours, where the output is a terminal and NO_COLOR does not forbid them. */
export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout })
