import { type Guard, guardsIn } from './guard.js'

const lookUp = 'src/chains/polkadot/lookUp.ts'
const decoder = 'src/chains/polkadot/decoder.ts'
const index = 'src/chains/polkadot/blockIndex.ts'
const signed = 'src/chains/polkadot/signedExtrinsic.ts'
const assetHub = ['test/chains/polkadot/assetHub.test.ts']
const decoded = ['test/chains/polkadot/decoder.test.ts']
const indexed = ['test/chains/polkadot/blockIndex.test.ts']

export const guards: readonly Guard[] = [
  ...guardsIn(lookUp, assetHub, {
    'a failed extrinsic is no payment': ["outcome === 'failure'", 'false'],
    'a block above the finalized one proves nothing': ['block.number > finalized.number', 'false'],
    'a block of another branch proves nothing': ['hash !== block.hash', 'false'],
    'nodes must agree about the finalized block': ['finalHash !== finalized.hash', 'false'],
    'a hash in two blocks is refused': ['second !== undefined', 'false'],
    'one of several remarks is no memo': ['own.length === 1 ? own : []', 'own'],
    "another account's remark is no memo": ['remarks.filter(({ sender }) => sender === signer)', 'remarks'],
    'a block is decoded as the runtime of its parent left it': [
      'runtimes.getDecoder(ask, parentHash)',
      'runtimes.getDecoder(ask, hash)',
    ],
  }),
  ...guardsIn(lookUp, assetHub, {
    'only what the signer owned is paid': ['from === signer || isRefund', 'true'],
    'what comes back to the signer is listed': ['to === signer && transfer.from !== query.from', 'false'],
  }),
  ...guardsIn(decoder, decoded, {
    'only the pallet assets numbers the asset': [
      'event.section === section && event.method === method',
      'event.method === method',
    ],
    'events that were decoded partly are an error': [
      'records.encodedLength !== (encoded.length - 2) / 2',
      'false',
    ],
    'events of other extrinsics do not count': [
      'phase.isApplyExtrinsic && phase.asApplyExtrinsic.eq(extrinsicIndex)',
      'phase.isApplyExtrinsic',
    ],
    'a remark must have the hash of the event': ['blake2AsHex(bytes, 256) === hash', 'bytes.length > 0'],
  }),
  ...guardsIn(index, indexed, {
    'blocks of a node on another branch are not indexed': ['hashes.at(-1) !== finalized.hash', 'false'],
    'an index of another chain is emptied': ['hashes.at(-2) !== known.hash', 'false'],
    'an index that is incomplete does not say that an extrinsic is missing': [
      'return lowest === 1',
      'return true',
    ],
  }),
  ...guardsIn(lookUp, assetHub, {
    'the signer signed the extrinsic': [
      '!signed.isSignedBy(signer, await readSignedHashes(ask, signed, number))',
      '(await readSignedHashes(ask, signed, number)) === null',
    ],
    'a genesis block of another network is signed for no payment here': [
      'toReference(genesisHash) !== chainId',
      'false',
    ],
    'what cannot be verified is one word of a node': [
      'if (signed === null) return { ...found, isUnverified: true }',
      'if (signed === null) return found',
    ],
    'events report no more than was signed': ['return isVerified ? found', 'return true ? found'],
  }),
  ...guardsIn('src/chains/common/direct/crossCheck.ts', assetHub, {
    'transfers that no signature shows need two hosts': ['isUnverified || countAtStake', 'countAtStake'],
  }),
  ...guardsIn('src/schemes/exactDirect/scheme.ts', assetHub, {
    'one host is not enough for transfers that no signature shows': [
      'found.isUnverified === true && !acceptsUnverified',
      'false',
    ],
  }),
  ...guardsIn(signed, decoded, {
    'a signature that binds no network proves nothing': [
      'signature === null || !isComplete',
      'signature === null',
    ],
    'a signature over an unknown hash of the metadata proves nothing': [
      'value.length === 1 && value[0] === withoutMetadataHash',
      'value.length === 1',
    ],
    'a transfer to a name that needs a look-up is no order': [
      'target[0] === accountId && target.length',
      'target.length',
    ],
  }),
  ...guardsIn('src/chains/polkadot/signedClaim.ts', ['test/chains/polkadot/signedClaim.test.ts'], {
    'a claim is signed between the marks of a message': ['Buffer.from(`<Bytes>', 'Buffer.from(`'],
  }),
  ...guardsIn('src/chains/polkadot/addresses.ts', ['test/chains/polkadot/encoding.test.ts'], {
    'an asset id is written in one way': ['Number(text) <= maxId', 'true'],
  }),
  ...guardsIn('src/chains/polkadot/open.ts', ['test/chains/polkadot/open.test.ts'], {
    'the extra that clients pay names the asset': ['readAssetId(assetId) === asset', 'true'],
  }),
]
