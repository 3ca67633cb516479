import { useEffect } from 'preact/hooks'
import { onEvent } from './live.js'

/** Reloads what events change, such as those of `stream`; a burst once. Null: every event. */
export const useReloadOnEvents = (
  noun: string | null,
  reload: () => void,
  { delayMs = 300 }: { readonly delayMs?: number } = {},
): void => {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onEvent((type) => {
      if (type !== null && noun !== null && !type.startsWith(`${noun}.`)) return
      timer ??= setTimeout(() => {
        timer = undefined
        reload()
      }, delayMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [noun, reload])
}
