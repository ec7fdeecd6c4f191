// Operates a page by the keyboard alone, as users do who have no pointer.
import type { Locator } from 'playwright-core'

/** Maximum presses of the Tab key to reach a control. */
const MAX_TABS = 300

/** Moves the focus to a control by the Tab key. Throws if it cannot be reached. */
async function tabTo(control: Locator): Promise<void> {
  await control.waitFor()
  for (let presses = 0; presses <= MAX_TABS; presses++) {
    if (await control.evaluate((element) => element.matches(':focus'))) return
    await control.page().keyboard.press('Tab')
  }
  throw new Error(`The Tab key does not reach ${control}.`)
}

/** Activates a link or button. */
export async function activate(control: Locator): Promise<void> {
  await tabTo(control)
  await control.page().keyboard.press('Enter')
}

/** Replaces the text of a field. */
export async function enterText(field: Locator, text: string): Promise<void> {
  await tabTo(field)
  const { keyboard } = field.page()
  await keyboard.press('ControlOrMeta+A')
  await keyboard.type(text)
}
