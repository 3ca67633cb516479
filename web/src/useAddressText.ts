import { useLayoutEffect, useState } from 'preact/hooks'

/**
 * The text of a field that takes over what the address of the page says. The effect runs before the browser can deliver input:
 * a later one would overwrite what was typed meanwhile.
 */
export const useAddressText = (kept: string) => {
  const [text, setText] = useState(kept)
  useLayoutEffect(() => setText(kept), [kept])
  return [text, setText] as const
}
