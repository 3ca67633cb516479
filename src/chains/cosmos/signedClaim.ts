import type { SignedClaim } from '../../schemes/exactDirect/directChain.js'
import { formatAddress } from './addresses.js'
import { hashKey, isSignedByKey } from './signature.js'

const publicKeyForm = /^[A-Za-z0-9+/]{44}$/
const signatureForm = /^[A-Za-z0-9+/]{86}==$/

/**
 * ADR-36, as wallets sign arbitrary texts: the amino JSON of a document that is no transaction of any chain. The address
 * must be that of the key, so multi-signature accounts sign no claims.
 */
export const isSignedBy = ({ account, text, signature, publicKey }: SignedClaim, prefix: string): boolean => {
  if (publicKey === null || !publicKeyForm.test(publicKey) || !signatureForm.test(signature)) return false
  const key = Buffer.from(publicKey, 'base64')
  if (formatAddress(hashKey(key), prefix) !== account) return false
  const message = Buffer.from(writeSignDocument(account, text), 'utf8')
  return isSignedByKey(key, message, Buffer.from(signature, 'base64'))
}

/** Sorted keys and no blanks. Neither base64 nor bech32 has characters that amino JSON escapes. */
const writeSignDocument = (signer: string, text: string): string =>
  JSON.stringify({
    account_number: '0',
    chain_id: '',
    fee: { amount: [], gas: '0' },
    memo: '',
    msgs: [
      { type: 'sign/MsgSignData', value: { data: Buffer.from(text, 'utf8').toString('base64'), signer } },
    ],
    sequence: '0',
  })
