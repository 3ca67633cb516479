import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  /** Null: it has to be answered, and Escape does not close it. */
  readonly onClose: (() => void) | null
  readonly children: ComponentChildren
}

/** Modal: the browser keeps the focus inside, and gives it back afterwards. */
export const Dialog = ({ title, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  const cancel = (event: Event): void => {
    event.preventDefault()
    onClose?.()
  }
  // Browsers close it at a second Escape, whatever the first one was answered.
  const reopen = (): void => {
    if (onClose === null && dialog.current?.isConnected === true) dialog.current.showModal()
  }
  return (
    <dialog ref={dialog} aria-labelledby={id} onCancel={cancel} onClose={reopen}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
