import { useEffect, useState } from 'preact/hooks'

/** `label` says what is copied, such as `transaction`. */
export const CopyButton = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 2_000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => {
    const isCopied = await writeClipboard(text)
    setState(isCopied ? 'copied' : 'refused')
  }
  return (
    <button type="button" class="copy" onClick={() => void copy()} aria-label={`Copy ${label}`}>
      <span aria-live="polite">{{ idle: 'Copy', copied: 'Copied', refused: 'Select it' }[state]}</span>
    </button>
  )
}

/** Browsers offer a clipboard to HTTPS and to this machine only. */
const writeClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** A line of code such as a hash, and a button that copies it. */
export const Code = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <span class="code-line">
    <code>{text}</code>
    <CopyButton text={text} label={label} />
  </span>
)

export const CodeBlock = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <div class="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
    <section class="code" tabIndex={0} aria-label={label}>
      <pre>
        <code>{text}</code>
      </pre>
    </section>
    <CopyButton text={text} label={label} />
  </div>
)
