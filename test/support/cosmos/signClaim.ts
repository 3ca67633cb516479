import { secp256k1 } from '@noble/curves/secp256k1'
import { sha256 } from '@noble/hashes/sha2'
import type { CosmosWallet } from './payment.js'

interface ClaimSigning {
  readonly wallet: Pick<CosmosWallet, 'address' | 'privateKey' | 'publicKey'>
  readonly text: string
  /** Other fields of the document. */
  readonly chainId?: string
  readonly type?: string
  readonly signer?: string
  readonly highS?: boolean
}

/** ADR-36 as `signArbitrary` of wallets: the text in base64, in an amino document without chain and fee. */
export const signClaim = ({
  wallet,
  text,
  chainId = '',
  type = 'sign/MsgSignData',
  signer = wallet.address,
  highS = false,
}: ClaimSigning) => {
  const data = Buffer.from(text).toString('base64')
  const document = `{"account_number":"0","chain_id":"${chainId}","fee":{"amount":[],"gas":"0"},"memo":"","msgs":[{"type":"${type}","value":{"data":"${data}","signer":"${signer}"}}],"sequence":"0"}`
  const signature = secp256k1.sign(sha256(Buffer.from(document)), wallet.privateKey, { lowS: true })
  const { r, s } = signature
  const chosen = highS ? new secp256k1.Signature(r, secp256k1.CURVE.n - s) : signature
  return {
    signature: Buffer.from(chosen.toCompactRawBytes()).toString('base64'),
    publicKey: Buffer.from(wallet.publicKey).toString('base64'),
  }
}
