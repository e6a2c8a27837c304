//! Geographic coordinates as positions in the plane: a local equirectangular projection about the first of them.
//!
//! Sources: the ellipsoid of WGS 84 (NIMA TR8350.2, table 3.1); its radii of curvature from Snyder, Map Projections: A
//! Working Manual, USGS Professional Paper 1395, chapter 4. A degree of latitude has the same length everywhere as at
//! the first position, and so has a degree of longitude. The relative error is tan(latitude) times the distance to the
//! north or south over the radius of the earth: at a latitude of 50 degrees 0.02 % per kilometre, 0.2 % over 10 km.
//! Leaves out: heights.

use super::Position;

/// Semi-major axis of the ellipsoid in metres.
const SEMI_MAJOR_M: f64 = 6_378_137.0;
/// Its flattening.
const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// Converts `places`, in degrees of latitude and longitude, to metres east and north of the first, rounded to
/// millimetres.
pub fn project(places: &[(f64, f64)]) -> Vec<Position> {
    let Some(&(latitude, longitude)) = places.first() else { return Vec::new() };
    let (sine, cosine) = (libm::sin(latitude.to_radians()), libm::cos(latitude.to_radians()));
    let squared_eccentricity = FLATTENING * (2.0 - FLATTENING);
    let bulge = 1.0 - squared_eccentricity * sine * sine;
    // Radii of curvature perpendicular to the meridian and along it.
    let (across, along) =
        (SEMI_MAJOR_M / bulge.sqrt(), SEMI_MAJOR_M * (1.0 - squared_eccentricity) / (bulge * bulge.sqrt()));
    let millimetres = |metres: f64| (metres * 1e3).round() / 1e3;
    let project = |&(other, east): &(f64, f64)| {
        // The short way around the globe.
        let degrees = (east - longitude + 540.0).rem_euclid(360.0) - 180.0;
        (millimetres(across * cosine * degrees.to_radians()), millimetres(along * (other - latitude).to_radians()))
    };
    places.iter().map(project).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::distance;

    /// Metres in a straight line through the earth. Over 10 km this is a millimetre less than along the surface.
    fn straight(a: (f64, f64), b: (f64, f64)) -> f64 {
        let cartesian = |(latitude, longitude): (f64, f64)| {
            let (phi, lambda) = (latitude.to_radians(), longitude.to_radians());
            let e2 = FLATTENING * (2.0 - FLATTENING);
            let n = SEMI_MAJOR_M / (1.0 - e2 * phi.sin().powi(2)).sqrt();
            [n * phi.cos() * lambda.cos(), n * phi.cos() * lambda.sin(), n * (1.0 - e2) * phi.sin()]
        };
        let (a, b) = (cartesian(a), cartesian(b));
        (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn distances_are_those_on_the_globe_within_the_error_that_is_promised() {
        for latitude in [-50.0, -10.0, 0.0, 30.0, 50.0, 65.0f64] {
            let first = (latitude, 13.0);
            // Up to 10 km in every direction.
            for (north, east) in [(0.0, 0.09), (0.09, 0.0), (0.06, 0.06), (-0.06, 0.06), (0.01, -0.002)] {
                let other = (latitude + north, 13.0 + east);
                let beside = (other.0, other.1 + 0.001);
                let found = project(&[first, other, beside]);
                let kilometres = distance(found[0], found[1]) / 1e3;
                let allowed = 0.000_16 * kilometres * latitude.to_radians().tan().abs() + 1e-6 * kilometres + 2e-5;
                for (a, b, (from, to)) in [(0, 1, (first, other)), (1, 2, (other, beside))] {
                    let (flat, globe) = (distance(found[a], found[b]), straight(from, to));
                    assert!((flat / globe - 1.0).abs() < allowed, "{from:?} {to:?}: {flat} {globe}");
                }
            }
        }
    }

    #[test]
    fn east_is_x_and_north_is_y_also_across_the_date_line() {
        let places = project(&[(-17.0, 179.999), (-17.0, -179.999), (-16.999, 179.999)]);
        assert_eq!(places[0], (0.0, 0.0));
        assert!((places[1].0 - 212.9).abs() < 0.5 && places[1].1 == 0.0, "{places:?}");
        assert!(places[2].0 == 0.0 && (places[2].1 - 110.66).abs() < 0.1, "{places:?}");
    }
}
