import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { ApiError } from '../api.js'
import { Dialog } from './Dialog.js'
import { ErrorNote } from './ErrorNote.js'

interface ConfirmProps {
  readonly title: string
  /** The label of the button that confirms. */
  readonly action: string
  /** Has to be typed first: for what cannot be undone here. */
  readonly word?: string
  readonly isBusy: boolean
  readonly error: ApiError | null
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Stays open until the change succeeded, and shows why it failed. */
export const Confirm = ({
  title,
  action,
  word,
  isBusy,
  error,
  onConfirm,
  onClose,
  children,
}: ConfirmProps) => {
  const [typed, setTyped] = useState('')
  const id = useId()
  const isReady = !isBusy && (word === undefined || typed.trim() === word)
  const submit = (event: Event) => {
    event.preventDefault()
    if (isReady) onConfirm()
  }
  return (
    <Dialog title={title} onClose={isBusy ? null : onClose}>
      <form class="confirm" onSubmit={submit}>
        {children}
        {word === undefined ? null : (
          <div>
            <label for={id}>
              Type <code>{word}</code> to confirm
            </label>
            <input
              id={id}
              type="text"
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
        )}
        {error === null ? null : <ErrorNote error={error} />}
        <div class="actions">
          <button type="submit" class="button danger" disabled={!isReady}>
            {isBusy ? 'One moment …' : action}
          </button>
          <button type="button" class="button" disabled={isBusy} onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
