// A real browser, where there is one: Debian's Chromium.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** Where Chromium is; undefined: there is none. */
export const chromiumPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path))

/** What tests in it are called, which says so where they are left out. */
export const inChromium = chromiumPath ? 'in Chromium' : 'skipped: no Chromium'

/** Starts it. */
export function startChromium(): Promise<Browser> {
  // Whoever runs the tests as root has no sandbox; only pages of the tests are opened.
  return chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
}
