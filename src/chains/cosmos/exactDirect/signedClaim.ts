import { createHash, createPublicKey, verify } from 'node:crypto'
import type { SignedClaim } from '../../../schemes/exactDirect/directChain.js'
import { formatAddress } from '../encoding/address.js'
import { sha256 } from '../encoding/hash.js'

// DER prefix of a compressed secp256k1 key (RFC 5480).
const publicKeyPrefix = Buffer.from('3036301006072a8648ce3d020106052b8104000a032200', 'hex')

const publicKeyForm = /^[A-Za-z0-9+/]{44}$/
const signatureForm = /^[A-Za-z0-9+/]{86}==$/

// Half the order of the curve: the chain refuses greater s.
const maxS = BigInt('0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0')

/**
 * ADR-36, as wallets sign arbitrary texts: the amino JSON of a document that is no transaction of any chain. The address
 * must be that of the key, so multi-signature accounts sign no claims.
 */
export const isSignedBy = ({ account, text, signature, publicKey }: SignedClaim, prefix: string): boolean => {
  if (publicKey === null || !publicKeyForm.test(publicKey) || !signatureForm.test(signature)) return false
  const key = Buffer.from(publicKey, 'base64')
  const rs = Buffer.from(signature, 'base64')
  if (formatAddress(hashKey(key), prefix) !== account) return false
  if (BigInt(`0x${rs.subarray(32).toString('hex')}`) > maxS) return false
  const message = Buffer.from(writeSignDocument(account, text), 'utf8')
  try {
    const der = Buffer.concat([publicKeyPrefix, key])
    const keyObject = createPublicKey({ key: der, format: 'der', type: 'spki' })
    return verify('sha256', message, { key: keyObject, dsaEncoding: 'ieee-p1363' }, rs)
  } catch {
    // Not a curve point.
    return false
  }
}

const hashKey = (key: Uint8Array): Buffer => createHash('ripemd160').update(sha256(key)).digest()

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
