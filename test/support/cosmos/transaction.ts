import { ripemd160 } from '@noble/hashes/legacy'
import { sha256 } from '@noble/hashes/sha2'
import { bech32 } from '@scure/base'
import { z } from 'zod'
import { decode, encode } from './protobuf.js'

const bytes = z.instanceof(Uint8Array)
const any = z.object({ type_url: z.string(), value: bytes })
const coin = z.object({ denom: z.string(), amount: z.string() })
const rawShape = z.object({ body_bytes: bytes, auth_info_bytes: bytes, signatures: z.array(bytes) })
const bodyShape = z.object({ messages: z.array(any), memo: z.string(), timeout_height: z.string() })
const authShape = z.object({
  signer_infos: z.array(z.object({ public_key: any, sequence: z.string() })),
  fee: z.object({ amount: z.array(coin), gas_limit: z.string() }),
})
const sendShape = z.object({ from_address: z.string(), to_address: z.string(), amount: z.array(coin) })
const share = z.object({ address: z.string(), coins: z.array(coin) })
const multiSendShape = z.object({ inputs: z.array(share), outputs: z.array(share) })
const execShape = z.object({ grantee: z.string(), msgs: z.array(any) })
const keyShape = z.object({ key: bytes })

export type Coin = z.infer<typeof coin>
export type AnyMessage = z.infer<typeof any>

type Message =
  | { readonly type: 'send'; readonly from: string; readonly to: string; readonly coins: readonly Coin[] }
  | ({ readonly type: 'multiSend' } & z.infer<typeof multiSendShape>)
  | { readonly type: 'exec'; readonly grantee: string; readonly messages: readonly AnyMessage[] }
  | { readonly type: 'unknown' }

export const messageUrls = {
  send: '/cosmos.bank.v1beta1.MsgSend',
  multiSend: '/cosmos.bank.v1beta1.MsgMultiSend',
  exec: '/cosmos.authz.v1beta1.MsgExec',
} as const

export const decodeMessage = ({ type_url, value }: AnyMessage): Message => {
  switch (type_url) {
    case messageUrls.send: {
      const { from_address: from, to_address: to, amount: coins } = sendShape.parse(decode('MsgSend', value))
      return { type: 'send', from, to, coins }
    }
    case messageUrls.multiSend:
      return { type: 'multiSend', ...multiSendShape.parse(decode('MsgMultiSend', value)) }
    case messageUrls.exec: {
      const { grantee, msgs: messages } = execShape.parse(decode('MsgExec', value))
      return { type: 'exec', grantee, messages }
    }
    default:
      return { type: 'unknown' }
  }
}

/** Who must sign it. */
export const signerOf = (message: Message): string | null => {
  switch (message.type) {
    case 'send':
      return message.from
    case 'multiSend':
      return message.inputs[0]?.address ?? null
    case 'exec':
      return message.grantee
    case 'unknown':
      return null
  }
}

export const addressOf = (publicKey: Uint8Array, prefix: string): string =>
  bech32.encode(prefix, bech32.toWords(ripemd160(sha256(publicKey))))

/** Of a module, such as `fee_collector`. */
export const moduleAddress = (name: string, prefix: string): string =>
  bech32.encode(prefix, bech32.toWords(sha256(Buffer.from(name)).slice(0, 20)))

/** Upper-case hex. */
export const hashOf = (transaction: Uint8Array): string =>
  Buffer.from(sha256(transaction)).toString('hex').toUpperCase()

/** Throws for malformed bytes. */
export const decodeTransaction = (transaction: Uint8Array) => {
  const raw = rawShape.parse(decode('TxRaw', transaction))
  const body = bodyShape.parse(decode('TxBody', raw.body_bytes))
  const { signer_infos, fee } = authShape.parse(decode('AuthInfo', raw.auth_info_bytes))
  const [signer] = signer_infos
  const [signature] = raw.signatures
  if (signer === undefined || signature === undefined) throw new Error('no signer')
  return {
    messages: body.messages,
    memo: body.memo,
    publicKey: keyShape.parse(decode('PubKey', signer.public_key.value)).key,
    sequence: Number(signer.sequence),
    signature,
    fee: fee.amount,
    gasLimit: Number(fee.gas_limit),
    /** What the signer signed (SIGN_MODE_DIRECT). */
    digestFor: (chainId: string, accountNumber: number): Uint8Array =>
      sha256(
        encode('SignDoc', {
          body_bytes: raw.body_bytes,
          auth_info_bytes: raw.auth_info_bytes,
          chain_id: chainId,
          account_number: accountNumber,
        }),
      ),
  }
}

export type DecodedTransaction = ReturnType<typeof decodeTransaction>
