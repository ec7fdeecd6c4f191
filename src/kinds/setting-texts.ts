// Settings whose values are texts of a certain form.
import { isObject, type Json } from './json.ts'

/** Whether a text is the lifespan of a token: a whole number of seconds; -1 is that of the session. */
export const isLifespan = (text: string): boolean => /^-?\d+$/.test(text)

/** Whether a text is a JSON object with the levels of authentication context classes, by name. */
export function areLevels(text: string): boolean {
  try {
    const levels: Json = JSON.parse(text)
    return (
      isObject(levels) &&
      Object.values(levels).every((level) => level === null || /^-?\d+(\.\d+)?$/.test(String(level)))
    )
  } catch {
    return false
  }
}
