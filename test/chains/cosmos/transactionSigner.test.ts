import type { EncodeObject } from '@cosmjs/proto-signing'
import { SignMode } from 'cosmjs-types/cosmos/tx/signing/v1beta1/signing'
import { AuthInfo, ModeInfo, TxBody, TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import { beforeAll, describe, expect, it } from 'vitest'
import { connectAminoSigner } from '../../support/cosmos/aminoSigner.js'
import { feeDenom } from '../../support/cosmos/ledger.js'
import { sendMessage } from '../../support/cosmos/payment.js'
import { encode } from '../../support/cosmos/protobuf.js'
import { hashOf } from '../../support/cosmos/transaction.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { useScene } from '../../support/useScene.js'
import { amount, openScene } from './scene.js'

const scene = useScene(openScene)
let payTo: string
/** In a block that the node serves, with the events of a payment. */
let publish: (bytes: Uint8Array) => Promise<string>

beforeAll(async () => {
  payTo = await scene.addMerchant()
  const paid = scene.chain.ledger.findExecuted(await scene.pay(payTo))
  if (paid === null) throw new Error('It was not executed')
  publish = async (bytes) => {
    scene.chain.ledger.fabricateBlock(bytes, paid)
    return hashOf(bytes)
  }
})

const keyOf = (seed: number) => Uint8Array.from(Buffer.alloc(32, seed))
const fee = { amount: [{ denom: feeDenom, amount: '20000' }], gas: '200000' }
const memo = 'a < b & c > d “e”'

const noPayment = { isValid: false, reason: 'no_matching_transfer' }

const verify = (txHash: string, from: string) => scene.verify(scene.bodyOf(txHash, { payTo }, from))

describe('a transaction that an account signed as amino JSON', () => {
  const openSigner = async () => {
    const signer = await connectAminoSigner(scene.chain, keyOf(9))
    scene.chain.ledger.fund(signer.address, feeDenom, amount)
    const sign = async (messages: readonly EncodeObject[], text = memo) =>
      TxRaw.encode(await signer.client.sign(signer.address, messages, fee, text)).finish()
    return { ...signer, sign }
  }

  it('is a payment of it', async () => {
    const { address, sign } = await openSigner()
    const txHash = await publish(await sign([sendMessage({ from: address, to: payTo, amount })]))
    expect(await verify(txHash, address)).toMatchObject({ isValid: true, payer: address })
  })

  it('is no payment of it with messages of other modules', async () => {
    const { address, sign } = await openSigner()
    const raw = TxRaw.decode(await sign([sendMessage({ from: address, to: payTo, amount })]))
    const body = TxBody.decode(raw.bodyBytes)
    const messages = [
      ...body.messages,
      { typeUrl: '/ibc.core.client.v1.MsgUpdateClient', value: new Uint8Array() },
    ]
    const bodyBytes = TxBody.encode({ ...body, messages }).finish()
    const txHash = await publish(TxRaw.encode({ ...raw, bodyBytes }).finish())
    expect(await verify(txHash, address)).toMatchObject(noPayment)
  })

  it('is no payment of it with a field that the JSON would have in another version', async () => {
    const { address, sign } = await openSigner()
    const raw = TxRaw.decode(await sign([sendMessage({ from: address, to: payTo, amount })]))
    // `unordered`, of Cosmos SDK 0.53: the key signed another document than the one that is known here.
    const bodyBytes = Uint8Array.from([...raw.bodyBytes, 0x20, 0x01])
    const signatures = [Buffer.alloc(64, 1)]
    const txHash = await publish(TxRaw.encode({ ...raw, bodyBytes, signatures }).finish())
    expect(await verify(txHash, address)).toMatchObject(noPayment)
  })

  it.each([
    ['SIGN_MODE_TEXTUAL', SignMode.SIGN_MODE_TEXTUAL],
    ['SIGN_MODE_EIP_191', SignMode.SIGN_MODE_EIP_191],
    ['a mode of a later version', 99],
  ])('is no payment of it if it states %s', async (_, mode) => {
    const { address, sign } = await openSigner()
    const raw = TxRaw.decode(await sign([sendMessage({ from: address, to: payTo, amount })]))
    const authInfo = AuthInfo.decode(raw.authInfoBytes)
    const stated = authInfo.signerInfos.map((info) => ({
      ...info,
      modeInfo: ModeInfo.fromPartial({ single: { mode } }),
    }))
    const authInfoBytes = AuthInfo.encode({ ...authInfo, signerInfos: stated }).finish()
    const txHash = await publish(TxRaw.encode({ ...raw, authInfoBytes }).finish())
    expect(await verify(txHash, address)).toMatchObject(noPayment)
  })

  it('is an outage if one byte of the memo is another', async () => {
    const { address, sign } = await openSigner()
    const raw = TxRaw.decode(await sign([sendMessage({ from: address, to: payTo, amount })]))
    const bodyBytes = Uint8Array.from(raw.bodyBytes)
    bodyBytes.set([(bodyBytes.at(-1) ?? 0) ^ 1], bodyBytes.length - 1)
    const txHash = await publish(TxRaw.encode({ ...raw, bodyBytes }).finish())
    expect(await rejectionOf(verify(txHash, address))).toMatchObject({ operationalCode: 'SVC-2004' })
  })
})

describe('a transaction of a multi-signature account', () => {
  // Of two of the keys 1, 2 and 3, as @cosmjs/amino derives it.
  const account = 'noble1896yggmlu07f0cgd8jrc8mfn2rslkjm87fygl2'

  /** Of the members by their seeds; the libraries' own assembly fails with the installed bech32. */
  const signBy = async (seeds: readonly number[], isForged = false): Promise<Uint8Array> => {
    const { ledger } = scene.chain
    ledger.fund(account, feeDenom, amount)
    const signing = {
      accountNumber: BigInt(ledger.findAccount(account)?.number ?? 0),
      sequence: 0,
      chainId: ledger.chainId,
    }
    const members = await Promise.all(
      [1, 2, 3].map((seed) => connectAminoSigner(scene.chain, keyOf(seed), account)),
    )
    const messages = [sendMessage({ from: account, to: payTo, amount })]
    const signed = await Promise.all(
      members.map(({ client }) => client.sign(account, messages, fee, memo, signing)),
    )
    const isSigner = (at: number) => seeds.includes(at + 1)
    const signatures = signed.flatMap((raw, at) =>
      isSigner(at) ? [isForged ? Buffer.alloc(64, 1) : (raw.signatures[0] ?? new Uint8Array())] : [],
    )
    const publicKeys = members.map(({ publicKey }) => ({
      type_url: '/cosmos.crypto.secp256k1.PubKey',
      value: encode('PubKey', { key: publicKey }),
    }))
    const bits = members.reduce((byte, _, at) => (isSigner(at) ? byte | (0x80 >> at) : byte), 0)
    const amino = { single: { mode: 127 } }
    const info = {
      public_key: {
        type_url: '/cosmos.crypto.multisig.LegacyAminoPubKey',
        value: encode('LegacyAminoPubKey', { threshold: 2, public_keys: publicKeys }),
      },
      mode_info: {
        multi: {
          bitarray: { extra_bits_stored: 3, elems: Buffer.from([bits]) },
          mode_infos: signatures.map(() => amino),
        },
      },
      sequence: 0,
    }
    return encode('TxRaw', {
      body_bytes: signed[0]?.bodyBytes,
      auth_info_bytes: encode('AuthInfo', {
        signer_infos: [info],
        fee: { amount: fee.amount, gas_limit: Number(fee.gas) },
      }),
      signatures: [encode('MultiSignature', { signatures })],
    })
  }

  it.each([[[1, 2]], [[1, 3]], [[1, 2, 3]]])('is a payment of it, signed by %j', async (seeds) => {
    const txHash = await publish(await signBy(seeds))
    expect(await verify(txHash, account)).toMatchObject({ isValid: true, payer: account })
  })

  it.each([
    ['too few members', [2], false],
    ['forged members', [1, 2], true],
  ])('is an outage with the signatures of %s', async (_, seeds, isForged) => {
    const txHash = await publish(await signBy(seeds, isForged))
    expect(await rejectionOf(verify(txHash, account))).toMatchObject({ operationalCode: 'SVC-2004' })
  })
})

it('a transaction that states the key of another account is no payment of the sender', async () => {
  const { client, address } = await connectAminoSigner(scene.chain, keyOf(8))
  scene.chain.ledger.fund(address, feeDenom, amount)
  const messages = [sendMessage({ from: scene.payer.address, to: payTo, amount })]
  const txHash = await publish(TxRaw.encode(await client.sign(address, messages, fee, '')).finish())
  expect(await verify(txHash, scene.payer.address)).toMatchObject({
    isValid: false,
    reason: 'no_matching_transfer',
  })
})
