// A search field.
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

/** A search field that searches while the user types, after a moment. */
export function SearchField({
  label,
  value,
  onSearch,
}: {
  readonly label: string
  readonly value: string
  readonly onSearch: (text: string) => void
}) {
  const [text, setText] = useState(value)
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => onSearch(text), 250)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <label class="search">
      <Icon name="search" />
      <span class="hidden">{label}</span>
      <input type="search" placeholder={label} value={text} onInput={(event) => setText(event.currentTarget.value)} />
    </label>
  )
}
