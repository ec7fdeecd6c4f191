// The styles of texts. A terminal shows them, other outputs do not.

/** Styles a text, or returns it as it is. */
export type Paint = (style: 'green' | 'yellow' | 'red' | 'dim' | 'bold', text: string) => string

/** Returns the text without colours. */
export const withoutColors: Paint = (_style, text) => text
