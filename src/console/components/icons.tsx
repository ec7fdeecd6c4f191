// Icons, drawn in the colour of the text.

const paths = {
  overview: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z',
  plans: 'M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2',
  sources: 'M8 10V2.5M5 5.5l3-3 3 3M3 9.5v4h10v-4',
  objects: 'M8 2 3 4.8v6.4L8 14l5-2.8V4.8zM3 4.8 8 7.6l5-2.8M8 7.6V14',
  drift: 'M2 6c2-3 4 3 6 0s4 3 6 0M2 11c2-3 4 3 6 0s4 3 6 0',
  history: 'M8 4.5V8l2.5 1.5M2.5 8a5.5 5.5 0 1 0 1.8-4.1M2.5 2.5v2.6h2.6',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c.3-2.6 2-4 4.5-4s4.2 1.4 4.5 4M11 3a2.3 2.3 0 0 1 0 4.500M12 9.800c1.5.5 2.3 1.8 2.5 3.7',
  events: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  search: 'M7 11.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.3 10.300l3.2 3.2',
  menu: 'M2.5 4.500h11M2.5 8h11M2.5 11.500h11',
  chevron: 'M6 3.5 10.5 8 6 12.5',
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  alert: 'M8 2.5 14 13H2zM8 6.500v3M8 11.300v.2',
  pause: 'M5.5 3.500v9M10.5 3.500v9',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 5v3.200l2 1.3',
  empty: 'M3 8h10',
} as const

/** The name of an icon. */
export type IconName = keyof typeof paths

/** An icon without a meaning of its own: a text beside it says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}

/** The mark of Regent: a crown. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M8 21 7 10.500l5 4.5 4-6.5 4 6.5 5-4.500L24 21zM8 22.500h16V25H8z" />
    </svg>
  )
}
