import { encodeFunctionData, type Hex, hashMessage, parseAbi, serializeErc6492Signature } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContractReader } from '../../../../src/chains/chain.js'
import { createContractReader } from '../../../../src/chains/evm/rpc/untrustedCalls.js'
import { hashSignInData } from '../../../../src/chains/evm/signIn/verify.js'
import {
  findTypedData,
  writeT402Message,
  writeX402Message,
} from '../../../../src/extensions/siwx/messages.js'
import type { SignInFields } from '../../../../src/protocol/siwx.js'
import { type LocalChain, startLocalChain } from '../../../support/evm/localChain.js'
import { openUntrustedCalls } from '../../../support/evm/untrustedCalls.js'
import {
  type ContractWallet,
  createDelegatedEoa,
  createEoa,
  createMoodyWallet,
  createSafeWallet,
  deployWallet,
  hostileFactoryAbi,
  moods,
} from '../../../support/evm/wallets.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { openSiwx, signInFields, signInUri, toProof } from '../../../support/siwx.js'

let chain: LocalChain
let contracts: ContractReader
beforeAll(async () => {
  chain = await startLocalChain()
  contracts = createContractReader(chain.network, openUntrustedCalls(chain))
})
afterAll(() => chain.stop())

const fieldsOf = (wallet: { readonly address: Hex }, given: Partial<SignInFields> = {}) =>
  signInFields({ address: wallet.address, chainId: chain.network, ...given })

/** By the owner of a Safe, as Safe's message handler expects it for an EIP-1271 digest. */
const signBySafe = (wallet: ContractWallet, fields: SignInFields): Promise<Hex> =>
  signDigestBySafe(wallet, hashMessage(writeX402Message(fields) ?? ''))

const signDigestBySafe = (wallet: ContractWallet, digest: Hex): Promise<Hex> =>
  wallet.owner.account.signTypedData({
    domain: { chainId: chain.chainId, verifyingContract: wallet.address },
    types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
    primaryType: 'SafeMessage',
    message: { message: digest },
  })

const wrap = ({ deployment }: ContractWallet, signature: Hex): Hex =>
  serializeErc6492Signature({ address: deployment.factory, data: deployment.factoryData, signature })

const verify = (fields: SignInFields, signature: string, readers: readonly ContractReader[] = [contracts]) =>
  openSiwx({ contracts: readers }).useCases.verifySignIn({
    proof: toProof(fields, signature),
    uri: signInUri,
  })

const reasonOf = async (work: Promise<unknown>) => (await rejectionOf(work)).signInReason

describe('a contract wallet', () => {
  it('signs in by EIP-1271 once it is deployed', async () => {
    const wallet = await createSafeWallet(chain)
    const fields = fieldsOf(wallet)
    const signature = await signBySafe(wallet, fields)
    expect(await reasonOf(verify(fields, signature))).toBe('siwx_signature_invalid')
    await deployWallet(chain, wallet)
    expect(await verify(fields, signature)).toMatchObject({
      address: wallet.address,
      signatureScheme: 'eip1271',
    })
  })

  it('signs in by ERC-6492 before it is deployed, without being deployed', async () => {
    const wallet = await createSafeWallet(chain)
    const fields = fieldsOf(wallet)
    const signature = wrap(wallet, await signBySafe(wallet, fields))
    expect(await verify(fields, signature)).toMatchObject({
      address: wallet.address,
      signatureScheme: 'eip6492',
    })
    expect(await chain.client.getCode({ address: wallet.address })).toBeUndefined()
  })

  it('signs in with each form of the message, also wrapped after its deployment', async () => {
    const wallet = await createSafeWallet(chain)
    await deployWallet(chain, wallet)
    const fields = fieldsOf(wallet)
    const digest = hashMessage(writeT402Message(fields))
    expect(await verify(fields, await signDigestBySafe(wallet, digest))).toMatchObject({
      signatureScheme: 'eip1271',
    })
    const other = fieldsOf(wallet)
    const typed = findTypedData(other)
    if (typed === null) throw new Error('The message has no typed data')
    const signature = await signDigestBySafe(wallet, hashSignInData(typed, wallet.address))
    expect(await verify(other, wrap(wallet, signature))).toMatchObject({ signatureScheme: 'eip6492' })
  })

  it('that is deployed is prepared by the call of the wrapper if it refuses (ERC-6492)', async () => {
    const wallet = await createMoodyWallet(chain, 'refusesAll')
    await deployWallet(chain, wallet)
    const fields = fieldsOf(wallet)
    const setMood = parseAbi(['function setMood(uint8 next)'])
    const factoryData = encodeFunctionData({ abi: setMood, args: [moods.indexOf('acceptsAll')] })
    const prepared = { ...wallet, deployment: { factory: wallet.address, factoryData } }
    expect(await reasonOf(verify(fields, wrap(wallet, '0xabcd')))).toBe('siwx_signature_invalid')
    expect(await verify(fields, wrap(prepared, '0xabcd'))).toMatchObject({ signatureScheme: 'eip6492' })
    expect(await reasonOf(verify(fieldsOf(wallet), '0xabcd'))).toBe('siwx_signature_invalid')
  })

  it('is refused with the signature of another owner, message or wallet', async () => {
    const [wallet, other] = [await createSafeWallet(chain), await createSafeWallet(chain)]
    await deployWallet(chain, wallet)
    const fields = fieldsOf(wallet)
    const foreign = await signBySafe({ ...wallet, owner: createEoa() }, fields)
    expect(await reasonOf(verify(fields, foreign))).toBe('siwx_signature_invalid')
    expect(await reasonOf(verify(fields, wrap(other, foreign)))).toBe('siwx_signature_invalid')
    const signature = await signBySafe(wallet, fields)
    expect(await reasonOf(verify({ ...fields, statement: 'Another' }, signature))).toBe(
      'siwx_signature_invalid',
    )
    const another = await signBySafe(other, fieldsOf(other))
    expect(await reasonOf(verify(fieldsOf(other), wrap(wallet, another)))).toBe('siwx_signature_invalid')
  })

  it('is refused on a chain where it is not, and where no node could be asked', async () => {
    const wallet = await createSafeWallet(chain)
    await deployWallet(chain, wallet)
    const fields = fieldsOf(wallet, { chainId: 'eip155:1' })
    const signature = `${await signBySafe(wallet, fields)}00`
    expect(await reasonOf(verify(fields, signature))).toBe('siwx_wallet_unverifiable')
    // Another chain's node knows no code at the address.
    const empty: ContractReader = { network: 'eip155:1', run: async () => '0x' }
    expect(await reasonOf(verify(fields, signature, [contracts, empty]))).toBe('siwx_signature_invalid')
  })

  it('that refuses is refused', async () => {
    const wallet = await createMoodyWallet(chain, 'refusesAll')
    const fields = fieldsOf(wallet)
    expect(await reasonOf(verify(fields, wrap(wallet, '0xabcd')))).toBe('siwx_signature_invalid')
    await deployWallet(chain, wallet)
    expect(await reasonOf(verify(fields, '0xabcd'))).toBe('siwx_signature_invalid')
  })

  it('whose factory burns all gas or deploys nothing is refused, and no factory is called by a transaction', async () => {
    const wallet = await createMoodyWallet(chain, 'acceptsAll')
    const { factory } = wallet.deployment
    const fields = fieldsOf(wallet)
    const lastCaller = { address: factory, abi: hostileFactoryAbi, functionName: 'lastCaller' } as const
    const before = await chain.client.readContract(lastCaller)
    for (const functionName of ['burnEverything', 'deployNothing'] as const) {
      const factoryData = encodeFunctionData({ abi: hostileFactoryAbi, functionName })
      const signature = wrap({ ...wallet, deployment: { factory, factoryData } }, '0xabcd')
      expect(await reasonOf(verify(fields, signature))).toBe('siwx_signature_invalid')
    }
    expect(await verify(fields, wrap(wallet, '0xabcd'))).toMatchObject({ signatureScheme: 'eip6492' })
    expect(await chain.client.readContract(lastCaller)).toBe(before)
  })

  it('whose wrapper is malformed is refused', async () => {
    const fields = fieldsOf(createEoa())
    expect(await reasonOf(verify(fields, `0xabcd${'6492'.repeat(16)}`))).toBe('siwx_signature_invalid')
    expect(await reasonOf(verify(fields, `0x${'6492'.repeat(16)}`))).toBe('siwx_signature_invalid')
  })
})

describe('an account with a key', () => {
  it('signs in although it has delegated its code (EIP-7702)', async () => {
    const wallet = await createDelegatedEoa(chain, { checksSignatures: false })
    const fields = fieldsOf(wallet)
    const signature = await wallet.account.signMessage({ message: writeX402Message(fields) ?? '' })
    expect(await verify(fields, signature)).toMatchObject({ signatureScheme: 'eip191' })
  })

  it('without code is never taken for a wallet that accepts', async () => {
    const fields = fieldsOf(createEoa())
    expect(await reasonOf(verify(fields, '0xabcd'))).toBe('siwx_signature_invalid')
  })
})

describe('a node that does not answer', () => {
  it('is our failure, and leaves the nonce unused', async () => {
    const wallet = await createSafeWallet(chain)
    const fields = fieldsOf(wallet)
    const signature = wrap(wallet, await signBySafe(wallet, fields))
    const fail = async () => {
      throw new Error('No node answers')
    }
    const readers = [{ network: chain.network, run: fail }]
    const error = await rejectionOf(verify(fields, signature, readers))
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 })
  })
})
