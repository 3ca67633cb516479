import type { KnownSettlingNetwork } from '../common/settling/settings.js'

export interface KnownNetwork extends KnownSettlingNetwork {
  readonly name: string
  /** Signed by W5 wallets, so that a message of one network is invalid on another. */
  readonly globalId: number
  /** Root hash of the zero state in base64: identifies the network. */
  readonly zeroState: string
  readonly publicRpcUrl: string
}

export const coinDecimals = 9

/** Jetton masters: as published by Tether. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    name: 'mainnet',
    globalId: -239,
    zeroState: 'F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk=',
    publicRpcUrl: 'https://toncenter.com/api/v2/jsonRPC',
    isTestnet: false,
    // Rounded, from 2025.
    coinUsd: 2,
    tokens: [
      {
        symbol: 'USDT',
        asset: '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe',
        decimals: 6,
      },
    ],
  },
  {
    name: 'testnet',
    globalId: -3,
    zeroState: 'gj+B8wb/AmlPk1z1AhVI484rhrUpgSr2oSFIh56VoSg=',
    publicRpcUrl: 'https://testnet.toncenter.com/api/v2/jsonRPC',
    isTestnet: true,
    coinUsd: null,
    tokens: [],
  },
]

/** Null for an unknown name. */
export const findKnownNetwork = (name: string): KnownNetwork | null =>
  knownNetworks.find((network) => network.name === name) ?? null

/** Lists those of the other networks: a message for one of them is none for this network. */
export const listOtherGlobalIds = ({ globalId }: Pick<KnownNetwork, 'globalId'>): readonly number[] =>
  knownNetworks.map((network) => network.globalId).filter((each) => each !== globalId)
