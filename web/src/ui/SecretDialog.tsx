import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy.js'
import { Dialog } from './Dialog.js'

interface SecretDialogProps {
  readonly title: string
  readonly secret: string
  /** Says what is copied. */
  readonly label: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** For what the service shows once: Escape does not close it. */
export const SecretDialog = ({ title, secret, label, onClose, children }: SecretDialogProps) => (
  <Dialog title={title} onClose={null}>
    <p>{children}</p>
    <p class="key">
      <code>{secret}</code>
    </p>
    <div class="actions">
      <CopyButton text={secret} label={label} />
      <button type="button" class="button primary" onClick={onClose}>
        I stored it
      </button>
    </div>
  </Dialog>
)
