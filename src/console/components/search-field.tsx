// Search fields.
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
  return <SearchInput label={label} value={text} onInput={setText} />
}

/** A search field that reports each change of its text. */
export function SearchInput({
  label,
  value,
  onInput,
}: {
  readonly label: string
  readonly value: string
  readonly onInput: (text: string) => void
}) {
  return (
    <label class="search">
      <Icon name="search" />
      <span class="hidden">{label}</span>
      <input type="search" placeholder={label} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  )
}
