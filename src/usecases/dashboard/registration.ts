import type { Mailer } from '../../ports/mailer.js'
import type { KeyViewer } from './useCases.js'

/** How keys are given out, and what that needs. */
export type Registration =
  | { readonly mode: 'once' | 'open' }
  /** Keys go by mail to the address that they belong to. */
  | { readonly mode: 'verified'; readonly mailer: Mailer }

/** Whether a caller sees full keys beside the one that it creates or presents. */
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
