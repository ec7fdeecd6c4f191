// YAML with highlighted keys, and a button that copies it.
import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'

/** A YAML document. */
export function YamlText({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <div class="yaml-box">
      <pre class="yaml">
        {text
          .trimEnd()
          .split('\n')
          .map((line, at) => (
            <YamlLine key={at} line={line} />
          ))}
      </pre>
      <button type="button" class="small" onClick={() => void copy()}>
        {isCopied ? texts.copied : texts.copy}
      </button>
    </div>
  )
}

function YamlLine({ line }: { readonly line: string }) {
  const [, indent = '', key, rest] = /^(\s*(?:- )*)([\w.$-]+|'[^']*'|"[^"]*")(:(?: .*)?)$/.exec(line) ?? []
  if (key === undefined) return <>{`${line}\n`}</>
  return (
    <>
      {indent}
      <span class="key">{key}</span>
      {`${rest}\n`}
    </>
  )
}
