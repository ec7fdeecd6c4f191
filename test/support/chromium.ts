// Starts Debian's Chromium, if it is installed.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** The path of Chromium; undefined if it is not installed. */
export const chromiumPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path))

/** Part of the titles of tests in Chromium. It gives the reason if they are skipped. */
export const inChromium = chromiumPath ? 'in Chromium' : 'skipped: no Chromium'

/** Starts Chromium. */
export function startChromium(): Promise<Browser> {
  // Chromium has no sandbox for root. The tests open their own pages only.
  return chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
}
