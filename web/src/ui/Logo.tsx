/** The receipt of the page at `/`. */
export const Logo = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path d="M6 2h20v27l-3.3-2.4L19.3 29 16 26.6 12.7 29l-3.4-2.4L6 29z" fill="#12694d" />
    <path
      d="M10.5 14.2l4 4 7.2-8"
      fill="none"
      stroke="#fff"
      stroke-width="3"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
)
