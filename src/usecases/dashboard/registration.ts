import type { Mailer } from '../../ports/mailer.js'
import type { KeyViewer } from './useCases.js'

/** `REGISTRATION`: how keys are handed out. */
export type Registration =
  | { readonly mode: 'once' | 'open' }
  | { readonly mode: 'verified'; readonly mailer: Mailer }

/** Whether the viewer sees full keys other than the one it creates or presents. */
export const areKeysShown = (mode: Registration['mode'], viewer: KeyViewer): boolean => {
  switch (mode) {
    case 'open':
      return true
    case 'once':
      return viewer === 'trusted'
    case 'verified':
      return false
  }
}

/** Whether a new account belongs to the mailbox that it names: strangers can name any. */
export const isMailboxProven = (mode: Registration['mode'], viewer: KeyViewer): boolean => {
  switch (mode) {
    case 'open':
      // The next one who asks for the key gets it, too.
      return false
    case 'once':
      return viewer === 'trusted'
    case 'verified':
      return true
  }
}
