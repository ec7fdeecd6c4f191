// Texts as values of HTTP headers.

/** Returns the text with whatever no header holds percent-encoded. */
export function asHeader(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
}

/** Whether the text is a value of a header. RFC 9110, section 5.5, without characters beyond ASCII. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text)
}
