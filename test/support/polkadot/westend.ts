/** Genesis hash of Westend Asset Hub. */
export const westendGenesis = '0x67f9723393ef76214df0118c34bbbd3dbebc8ed46a10973a8c969d48fe7598c9'

export const usdt = 1984
export const usdc = 1337

/** CAIP-2 identifier. */
export const westendNetwork = 'polkadot:67f9723393ef76214df0118c34bbbd3d'
