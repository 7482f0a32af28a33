// Vite puts style sheets that are imported into the page.
declare module '*.css';
