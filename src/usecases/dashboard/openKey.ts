import type { KeyedAccount } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'

/** Throws if the stored bytes are not the key that the row's fingerprint finds: rows may have been exchanged. */
export const openKey = (
  sealer: Pick<Sealer, 'open' | 'fingerprints'>,
  { account, sealed, fingerprint }: KeyedAccount,
): string => {
  const apiKey = sealer.open(sealed, account.id)
  if (sealer.fingerprints(apiKey).some((each) => Buffer.from(each).equals(fingerprint))) return apiKey
  throw new Error(`The stored API key of account ${account.id} does not match its fingerprint`)
}
