/** Sets a member of an object, also one with the name `__proto__`, for which an assignment would replace the prototype. */
export function setMember<T>(object: { [name: string]: T }, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}
