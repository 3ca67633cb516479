import type { Guard } from './guard.js'

const lookUp = 'src/chains/polkadot/exactDirect/lookUp.ts'
const transfers = 'src/chains/polkadot/exactDirect/transfers.ts'
const decoder = 'src/chains/polkadot/exactDirect/decoder.ts'
const index = 'src/chains/polkadot/exactDirect/blockIndex.ts'
const signed = 'src/chains/polkadot/exactDirect/signedExtrinsic.ts'
const signatures = ['test/chains/polkadot/signedExtrinsic.test.ts']
const onChain = ['test/chains/polkadot/pitfalls.test.ts']
const decoded = ['test/chains/polkadot/decoder.test.ts']
const indexed = ['test/chains/polkadot/blockIndex.test.ts']

export const guards: readonly Guard[] = [
  {
    name: 'a failed extrinsic is no payment',
    file: lookUp,
    from: "outcome === 'failure'",
    to: 'false',
    tests: onChain,
  },
  {
    name: 'a block above the finalized one proves nothing',
    file: lookUp,
    from: 'block.number > finalized.number',
    to: 'false',
    tests: onChain,
  },
  {
    name: 'a block of another branch proves nothing',
    file: lookUp,
    from: 'hash !== block.hash',
    to: 'false',
    tests: onChain,
  },
  {
    name: 'nodes must agree about the finalized block',
    file: lookUp,
    from: 'finalHash !== finalized.hash',
    to: 'false',
    tests: onChain,
  },
  {
    name: 'a hash in two blocks is refused',
    file: lookUp,
    from: 'second !== undefined',
    to: 'false',
    tests: onChain,
  },
  {
    name: 'one of several remarks is no memo',
    file: lookUp,
    from: 'own.length === 1 ? own : []',
    to: 'own',
    tests: onChain,
  },
  {
    name: "another account's remark is no memo",
    file: lookUp,
    from: 'remarks.filter(({ sender }) => sender === signer)',
    to: 'remarks',
    tests: onChain,
  },
  {
    name: 'only what the signer owned is paid',
    file: transfers,
    from: 'from === signer || isRefund',
    to: 'true',
    tests: onChain,
  },
  {
    name: 'what comes back to the signer is listed',
    file: transfers,
    from: 'to === signer && transfer.from !== query.from',
    to: 'false',
    tests: onChain,
  },
  {
    name: 'only the pallet assets numbers the asset',
    file: decoder,
    from: 'event.section === section && event.method === method',
    to: 'event.method === method',
    tests: decoded,
  },
  {
    name: 'events that were decoded partly are an error',
    file: decoder,
    from: 'records.encodedLength !== (encoded.length - 2) / 2',
    to: 'false',
    tests: decoded,
  },
  {
    name: 'events of other extrinsics do not count',
    file: decoder,
    from: 'phase.isApplyExtrinsic && phase.asApplyExtrinsic.eq(extrinsicIndex)',
    to: 'phase.isApplyExtrinsic',
    tests: decoded,
  },
  {
    name: 'a remark must have the hash of the event',
    file: decoder,
    from: 'blake2AsHex(bytes, 256) === hash',
    to: 'bytes.length > 0',
    tests: decoded,
  },
  {
    name: 'blocks of a node on another branch are not indexed',
    file: index,
    from: 'hashes.at(-1) !== finalized.hash',
    to: 'false',
    tests: indexed,
  },
  {
    name: 'an index of another chain is emptied',
    file: index,
    from: 'hashes.at(-2) !== known.hash',
    to: 'false',
    tests: indexed,
  },
  {
    name: 'a block is decoded as the runtime of its parent left it',
    file: lookUp,
    from: 'runtimes.getDecoder(ask, parentHash)',
    to: 'runtimes.getDecoder(ask, hash)',
    tests: onChain,
  },
  {
    name: 'an index that is incomplete does not say that an extrinsic is missing',
    file: index,
    from: 'return lowest === 1',
    to: 'return true',
    tests: indexed,
  },
  {
    name: 'the signer signed the extrinsic',
    file: lookUp,
    from: '!signed.isSignedBy(signer, await readSignedHashes(ask, signed, number))',
    to: '(await readSignedHashes(ask, signed, number)) === null',
    tests: signatures,
  },
  {
    name: 'a genesis block of another network is signed for no payment here',
    file: lookUp,
    from: 'toReference(genesisHash) !== chainId',
    to: 'false',
    tests: signatures,
  },
  {
    name: 'what cannot be verified is one word of a node',
    file: lookUp,
    from: 'if (signed === null) return { ...found, isUnverified: true }',
    to: 'if (signed === null) return found',
    tests: signatures,
  },
  {
    name: 'events report no more than was signed',
    file: lookUp,
    from: 'return isVerified ? found',
    to: 'return true ? found',
    tests: signatures,
  },
  {
    name: 'transfers that no signature shows need two hosts',
    file: 'src/chains/common/direct/crossCheck.ts',
    from: 'isUnverified || countAtStake',
    to: 'countAtStake',
    tests: signatures,
  },
  {
    name: 'one host is not enough for transfers that no signature shows',
    file: 'src/schemes/exactDirect/scheme.ts',
    from: 'found.isUnverified === true && !acceptsUnverified',
    to: 'false',
    tests: signatures,
  },
  {
    name: 'a signature that binds no network proves nothing',
    file: signed,
    from: 'signature === null || !isComplete',
    to: 'signature === null',
    tests: decoded,
  },
  {
    name: 'a signature over an unknown hash of the metadata proves nothing',
    file: signed,
    from: 'value.length === 1 && value[0] === withoutMetadataHash',
    to: 'value.length === 1',
    tests: decoded,
  },
  {
    name: 'a transfer to a name that needs a look-up is no order',
    file: signed,
    from: 'target[0] === accountId && target.length',
    to: 'target.length',
    tests: decoded,
  },
  {
    name: 'a claim is signed between the marks of a message',
    file: 'src/chains/polkadot/exactDirect/signedClaim.ts',
    from: 'Buffer.from(`<Bytes>',
    to: 'Buffer.from(`',
    tests: ['test/chains/polkadot/signedClaim.test.ts'],
  },
  {
    name: 'an asset id is written in one way',
    file: 'src/chains/polkadot/encoding/assetId.ts',
    from: 'Number(text) <= maxId',
    to: 'true',
    tests: ['test/chains/polkadot/encoding.test.ts'],
  },
  {
    name: 'the extra that clients pay names the asset',
    file: 'src/chains/polkadot/exactDirect/chain.ts',
    from: 'readAssetId(assetId) === asset',
    to: 'true',
    tests: ['test/chains/polkadot/open.test.ts'],
  },
]
