import type { KeyedAccount, Mailer, Sealer } from '../../ports/accountStore.js'
import type { LookupResult } from '../../protocol/accounts.js'
import { maskedApiKey } from './apiKey.js'
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

/** Throws if the stored bytes are not the key that the row's fingerprint finds: rows may have been exchanged. */
export const openKey = (
  sealer: Pick<Sealer, 'open' | 'fingerprints'>,
  { account, sealed, fingerprint }: KeyedAccount,
): string => {
  const apiKey = sealer.open(sealed, account.id)
  if (sealer.fingerprints(apiKey).some((each) => Buffer.from(each).equals(fingerprint))) return apiKey
  throw new Error(`The stored API key of account ${account.id} does not match its fingerprint`)
}

export const viewKey = (
  keyed: KeyedAccount,
  sealer: Pick<Sealer, 'open' | 'fingerprints'> | null,
): LookupResult['keys'][number] => ({
  apiKey: sealer === null ? maskedApiKey : openKey(sealer, keyed),
  project: keyed.account.project,
  tier: keyed.account.tier,
  status: keyed.account.status,
  createdAt: keyed.account.createdAt.toISOString(),
})
