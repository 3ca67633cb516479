/** Null: not a URL. (`URL.parse` is newer than the oldest supported Node.) */
export const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)
